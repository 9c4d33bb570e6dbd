import { currentContext, currentSpan, endAfter, inContext, type Span } from '@fulfilment/runtime';

const attributes = { 'db.system.name': 'postgresql' };
const maxSummaryLength = 255; // the limit of OpenTelemetry's semantic conventions

/** The span of a transaction, from the request for a connection to the end. It names the statements. */
export class TransactionSpan {
  private readonly span: Span;
  private readonly statementNames: string[] = [];

  constructor(parent: Span) {
    this.span = parent.child({ name: 'transaction', kind: 'client', attributes });
  }

  addStatement(name: string): void {
    this.statementNames.push(name);
  }

  /** Runs the work of the transaction in its span. */
  run<Result>(work: () => Result): Result {
    const context = currentContext();
    return context === undefined ? work() : inContext(context.withSpan(this.span), work);
  }

  endCommitted(): void {
    this.end();
  }

  endFailed(errorType: 'no_connection' | 'rollback'): void {
    this.span.fail(errorType);
    this.end();
  }

  private end(): void {
    const [first] = this.statementNames;
    if (first !== undefined) {
      this.span.name = `transaction ${first}`;
      this.span.set({ 'db.query.summary': this.statementNames.join(' ').slice(0, maxSummaryLength) });
    }
    this.span.end();
  }
}

/** Starts the span of a transaction if it has a parent. @param parent by default the current span */
export function startTransactionSpan(parent = currentSpan()): TransactionSpan | undefined {
  return parent && new TransactionSpan(parent);
}

/** Runs a statement that is a transaction of its own, in a span if the current work has one. */
export function inStatementSpan<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
  const parent = currentSpan();
  if (parent === undefined) return run();
  return endAfter(
    parent.child({ name, kind: 'client', attributes: { ...attributes, 'db.query.summary': name } }),
    run,
  );
}
