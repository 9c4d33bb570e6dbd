/** SQL of the name of a row of `creators`, as consent and account pages show it. */
export const creatorNameSql = `coalesce(creators.name, 'Unnamed creator') || CASE WHEN creators.test THEN ' (test)' ELSE '' END`;
