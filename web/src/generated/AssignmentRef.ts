export type AssignmentRef = { id: number; state: string; title: string | null };
