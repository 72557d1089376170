import { useState } from "preact/hooks";
import { ask, reasonOf, type Refused } from "./api";

export function SignIn({ why, onDone }: { why: Refused; onDone: () => void }) {
  const [problem, setProblem] = useState(why.status === 403 ? why.message : "");
  const signIn = async (event: Event) => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const token = String(new FormData(form).get("token") ?? "").trim();
    try {
      await ask("POST", "/api/session", { token });
      onDone();
    } catch (error) {
      setProblem(reasonOf(error));
      form.reset();
    }
  };
  return (
    <form class="sign-in" onSubmit={signIn}>
      <h1>Sign in</h1>
      <p>This master requires a token; a reader token is sufficient. Your browser stores only a session cookie.</p>
      <label for="token">Token</label>
      <input id="token" name="token" type="password" autocomplete="current-password" required />
      <button type="submit">Sign in</button>
      {problem && <p role="alert" class="bad">{problem}</p>}
    </form>
  );
}
