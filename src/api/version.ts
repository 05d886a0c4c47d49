/** Version of this program; package.json has the same, held together by a test. */
export const OPERATOR_VERSION = '0.1.0';
