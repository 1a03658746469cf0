export type Background = { agents: number; shells: number };
