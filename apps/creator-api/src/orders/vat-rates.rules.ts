/**
 * Standard rates of VAT, or of a similar consumption tax, in basis points: 2000 is 20 %. EU: European
 * Commission, "Taxes in Europe" database; GB: GOV.UK, VAT rates; CH, LI: ESTV; NO: Skatteetaten; IS:
 * Skatturinn; JP: National Tax Agency; AU: ATO; NZ: IRD; SG: IRAS; KR: NTS; ZA: SARS; MX: SAT. As in force on
 * 2026-01-01. The United States has no such tax; Canada's differs by province and is not included in prices.
 */
const standardRates: ReadonlyMap<string, number> = new Map(
  Object.entries({
    AT: 2000,
    BE: 2100,
    BG: 2000,
    CY: 1900,
    CZ: 2100,
    DE: 1900,
    DK: 2500,
    EE: 2400,
    ES: 2100,
    FI: 2550,
    FR: 2000,
    GR: 2400,
    HR: 2500,
    HU: 2700,
    IE: 2300,
    IT: 2200,
    LT: 2100,
    LU: 1700,
    LV: 2100,
    MT: 1800,
    NL: 2100,
    PL: 2300,
    PT: 2300,
    RO: 2100,
    SE: 2500,
    SI: 2200,
    SK: 2300,
    // Outside of the EU.
    GB: 2000,
    CH: 810,
    LI: 810,
    NO: 2500,
    IS: 2400,
    JP: 1000,
    AU: 1000,
    NZ: 1500,
    SG: 900,
    KR: 1000,
    ZA: 1500,
    MX: 1600,
    // Territories that apply the rate of a neighbouring country: the United Kingdom, France.
    IM: 2000,
    MC: 2000,
  }),
);

/** Returns the destination's standard rate in basis points; 0 if none is known. */
export function standardVatRate(countryCode: string): number {
  return standardRates.get(countryCode.toUpperCase()) ?? 0;
}
