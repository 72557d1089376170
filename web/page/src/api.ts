// Calls of the master's API, and the errors that it returns.
import type { Problem } from "./messages";

export class Refused extends Error {
  constructor(readonly status: number, readonly code: string, message: string) {
    super(message);
  }
}

export async function ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(path, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (response.status === 204) return {} as Answer;
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer as Answer;
  const problem = answer as Problem;
  throw new Refused(response.status, problem.code ?? "", problem.message ?? response.statusText);
}

// Returns why a call failed. Browsers do not report why a master does not answer.
export const reasonOf = (error: unknown) => (error instanceof Refused ? error.message : "the master does not answer");

export const jobPath = (id: string) => `/api/jobs/${encodeURIComponent(id)}`;
