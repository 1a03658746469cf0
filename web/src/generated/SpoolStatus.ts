export type SpoolStatus = { files: number; bytes: number };
