export type Rank = { default: string; urgency: string };
