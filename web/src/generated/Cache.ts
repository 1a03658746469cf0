export type Cache = { status: "warm" | "cold" | "unknown"; expires_at: string | null };
