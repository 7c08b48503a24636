// The gate of the beep task: whether a participant answers at the beep, looked at early enough to
// help. Pure.
import type { BeepInfo } from "./wire";

export type Feedback = "early" | "ok" | "late";

/** Returns how an answer lies to the beep; no answer is late. */
export function feedbackFor(response_ms: number | null, beep_ms: number, tolerance_ms: number): Feedback {
  if (response_ms === null || beep_ms + tolerance_ms < response_ms) return "late";
  return response_ms < beep_ms - tolerance_ms ? "early" : "ok";
}

/** What the gate says after a trial. */
export type GateSays = "go" | "warn" | "stop";

export class Gate {
  private n = 0;
  private nInTime = 0;
  private checks: number;

  /** `wasWarned`: an earlier page of the session has warned already. */
  constructor(private readonly rules: Pick<BeepInfo, "gate_trials" | "gate_share" | "gate">, wasWarned: boolean) {
    this.checks = wasWarned ? 1 : 0;
  }

  /** Share of answers in time since the last look. */
  get share(): number {
    return this.n === 0 ? 1 : this.nInTime / this.n;
  }

  /** Notes a timed trial. It looks after the first `gate_trials`, and once more after a warning. */
  note(feedback: Feedback): GateSays {
    const { gate_trials, gate_share, gate } = this.rules;
    if (gate_trials === 0 || 2 <= this.checks) return "go";
    this.n++;
    if (feedback === "ok") this.nInTime++;
    if (this.n < gate_trials) return "go";
    const isFine = gate_share <= this.share;
    const isSecond = this.checks === 1;
    this.checks = isFine ? 2 : this.checks + 1;
    if (isFine) return "go";
    if (isSecond) return gate === "stop" ? "stop" : "go";
    return "warn";
  }

  /** Counts from zero, after a warning. */
  again(): void {
    this.n = 0;
    this.nInTime = 0;
  }
}
