// Beeps on the audio clock. A beep is put on that clock ahead of time, so that a busy page cannot
// delay it; the browser's own figures say when it was heard.

const BEEP_MS = 60;
const BEEP_HZ = 1_000;
/** Above this, a wireless headphone is likely. */
export const LATE_OUTPUT_MS = 60;

/** A point on both clocks: the sample at `contextTime` (s) is heard at `performanceTime` (ms). */
export type ClockPair = { contextTime: number; performanceTime: number };

/** Returns the time on the audio clock, in seconds, at which a page time is heard. */
export function toAudio(at_ms: number, pair: ClockPair): number {
  return pair.contextTime + (at_ms - pair.performanceTime) / 1000;
}

/** Returns the page time at which a time on the audio clock is heard. */
export function toPage(when_s: number, pair: ClockPair): number {
  return pair.performanceTime + (when_s - pair.contextTime) * 1000;
}

export type Scheduled = { when_s: number; cancel: () => void };

export class Sound {
  private constructor(private readonly context: AudioContext) {}

  /** Starts sound; must be called from a click or key. Nothing where there is none. */
  static async start(): Promise<Sound | null> {
    try {
      const context = new AudioContext({ latencyHint: "interactive" });
      const isRunning = await Promise.race([
        context.resume().then(() => true),
        new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 3_000)),
      ]);
      if (!isRunning) return null;
      const sound = new Sound(context);
      sound.keepWarm();
      return sound;
    } catch {
      return null;
    }
  }

  get base_latency_ms(): number | null {
    const { baseLatency } = this.context;
    return Number.isFinite(baseLatency) ? baseLatency * 1000 : null;
  }

  get output_latency_ms(): number | null {
    const { outputLatency } = this.context;
    return Number.isFinite(outputLatency) ? outputLatency * 1000 : null;
  }

  /** Puts a beep where it is heard at a page time, or as soon as possible. */
  beepAt(at_ms: number): Scheduled {
    const { context } = this;
    const when_s = Math.max(toAudio(at_ms, this.clocks()), context.currentTime);
    const oscillator = context.createOscillator();
    const gain = context.createGain();
    oscillator.frequency.value = BEEP_HZ;
    // A beep without edges: a step would click.
    gain.gain.setValueAtTime(0, when_s);
    gain.gain.linearRampToValueAtTime(0.4, when_s + 0.004);
    gain.gain.setValueAtTime(0.4, when_s + BEEP_MS / 1000 - 0.01);
    gain.gain.linearRampToValueAtTime(0, when_s + BEEP_MS / 1000);
    oscillator.connect(gain).connect(context.destination);
    oscillator.start(when_s);
    oscillator.stop(when_s + BEEP_MS / 1000);
    const cancel = () => {
      gain.disconnect();
    };
    return { when_s, cancel };
  }

  /** When a beep is or was heard, on the page's clock, by what the browser now knows. */
  heardAt({ when_s }: Scheduled): number {
    return toPage(when_s, this.clocks());
  }

  /** Wakes the sound up again, e.g. after a pause. */
  async wake(): Promise<void> {
    if (this.context.state !== "running") await this.context.resume().catch(() => {});
  }

  private clocks(): ClockPair {
    const { context } = this;
    const pair = context.getOutputTimestamp?.();
    if (pair?.contextTime && pair.performanceTime) return pair as ClockPair;
    const delay_ms = this.output_latency_ms ?? this.base_latency_ms ?? 0;
    return { contextTime: context.currentTime, performanceTime: performance.now() + delay_ms };
  }

  /** An inaudible tone, so that the device does not fall asleep between beeps. */
  private keepWarm(): void {
    const oscillator = this.context.createOscillator();
    const gain = this.context.createGain();
    oscillator.frequency.value = 30;
    gain.gain.value = 0.0001;
    oscillator.connect(gain).connect(this.context.destination);
    oscillator.start();
  }
}
