/**
 * Version of checks, formula and checker contract. It is raised whenever the same stored trial could get another
 * number, and stands in every score record and in provenance.
 */
export const SCORER_VERSION = '1';
