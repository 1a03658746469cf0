export type QuestionOption = { label: string; description: string | null };
