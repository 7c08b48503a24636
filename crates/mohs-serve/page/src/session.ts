// A session from the first page to the code: who comes, which pages they see, block after block of
// trials, the end. What each page looks like and how each task runs is elsewhere.
import * as api from "./api";
import { ApiError } from "./api";
import { sidePx, USUAL_DISTANCE_MM, wholeSidePx } from "./calibration";
import { h, sleep } from "./dom";
import { heightOf } from "./grid";
import { Media } from "./media";
import { Outbox, retryDelay, type Post } from "./outbox";
import { computerPage, launchPage, otherTabPage, takenPage, unacceptedPage } from "./pages/arrival";
import { beepBlockPage, breakPage, pausePage, practiceOverPage, practicePage, welcomeBackPage } from "./pages/between";
import { cardPage } from "./pages/card";
import { endPage, errorPage, nothingLeftPage, saved, withdrawnPage } from "./pages/closing";
import { consentPage } from "./pages/consent";
import { distancePage } from "./pages/distance";
import { gatePage, unfitBrowserPage, unfitPage } from "./pages/gate";
import { instructionsPage } from "./pages/instructions";
import { soundPage } from "./pages/sound";
import { canShowAny, isSameRefresh, measureRefresh, type Refresh } from "./refresh";
import { sha256 } from "./sha256";
import { openStore, type Owner, type Store } from "./store";
import { arrivalFrom, fillScreen, isPhone, joinRequest, leaveFullscreen, screenNow, screenSignature, type Arrival } from "./surroundings";
import type { Desk, Task } from "./task";
import { textsFor } from "./texts";
import { Leave, Ui } from "./ui";
import { Watch } from "./watch";
import { becomeWriter } from "./writer";
import type { Block, BlockAnswer, BlockRequest, Calibration, Ending, Joined, Welcome } from "./wire";

/** How long to wait for older answers before asking for the session all the same. */
const OLDER_WAIT_MS = 15_000;
/** The same for answers to other studies. */
const STRAY_WAIT_MS = 3_000;
/** How long the screen is watched before trials are planned, and once more before they run. */
const MEASURE_MS = 1_000;
const RECHECK_MS = 500;
/** After so many plans in a row that could not be run, something is wrong. */
const MOST_EMPTY_ROUNDS = 4;

/** Runs the page. */
export async function run(task: Task): Promise<void> {
  const root = document.getElementById("page")!;
  const ui = new Ui(root, textsFor(document.documentElement.lang));
  const arrival = arrivalFrom(location.search);
  if (arrival.kind === "unaccepted") return unacceptedPage(ui);
  if (window.top !== window) return launchPage(ui);
  if (task.needsComputer && isPhone()) return computerPage(ui);
  const visit = new Visit(task, ui, arrival);
  try {
    await visit.run();
    visit.letGo();
  } catch (error) {
    visit.fail(error);
  }
}

const sendEvents: Post = (chain, events, keepalive) => api.events(chain.session, chain.token, events, keepalive);

/** One loading of the page. */
class Visit {
  /** The study's name in addresses. */
  private readonly study = document.body.dataset["study"] ?? "";
  private outbox: Outbox | null = null;
  private store!: Store;
  private joined!: Joined;
  private owner!: Owner;
  /** What this browser remembers of an earlier visit. */
  private known: Owner | null = null;
  private watch!: Watch;
  private desk!: Desk;
  private calibration: Calibration | null = null;
  private hasConsent = false;
  private readonly done: Set<string> = new Set();
  /** Who this browser knows here: the study and the recruiter's id, hashed. A preview is nobody, each
   * time another one. */
  private readonly ownerName: string;
  /** Lets another tab be the writer. */
  letGo: () => void = () => {};

  constructor(
    private readonly task: Task,
    private readonly ui: Ui,
    private readonly arrival: Extract<Arrival, { kind: "participant" }>,
  ) {
    const { recruiter, recruiter_id, preview } = arrival;
    const nobody = preview === null ? [] : [Math.random()];
    this.ownerName = sha256(JSON.stringify([this.study, recruiter, recruiter_id, preview, ...nobody]));
  }

  async run(): Promise<void> {
    const { ui } = this;
    ui.notice({ name: "loading", title: ui.texts.loading });
    await this.becomeWriter();
    this.store = await openStore(globalThis.indexedDB);
    this.outbox = new Outbox(this.store, sendEvents);
    await this.outbox.open(this.ownerName);
    this.listen(this.outbox);
    await Promise.all([Promise.race([this.outbox.olderDrained(), sleep(OLDER_WAIT_MS)]), this.sendStray()]);
    const welcome = await this.welcome();
    ui.texts = textsFor(welcome.study.language);
    ui.banner = welcome.study.preview ? ui.texts.preview : "";
    document.documentElement.lang = welcome.study.language;
    document.title = welcome.study.title;
    // Who is new is asked first: before consent, nothing is stored of them, here or there.
    const consent = welcome.is_known ? null : await consentPage(ui, welcome.study, this.task);
    if (consent?.agreed === false) return this.refused();
    await this.join();
    const { joined } = this;
    if (joined.state === "withdrawn") return withdrawnPage(ui);
    if (joined.state === "ended") return this.ended(joined.code, joined.completion_url, joined.ending);
    await this.outbox.begin(this.owner.owner, joined.session, joined.epoch, joined.token, performance.now());
    if (consent !== null) await this.agreed(consent.choices);
    let work = () => this.all();
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Leave)) throw error;
        if (error.how === "withdraw") return await this.withdraw();
        work = async () => void (await this.end(true));
      }
    }
  }

  private async all(): Promise<void> {
    if (!(await this.consent())) return this.refuse();
    await this.prepare();
    await this.blocks();
  }

  fail(error: unknown): void {
    const isTaken = error instanceof ApiError && error.code === "epoch_over";
    // What is not sent yet goes on to be sent, by this tab.
    if (isTaken || (this.outbox?.nUnsaved ?? 0) === 0) this.letGo();
    void leaveFullscreen();
    if (isTaken) return takenPage(this.ui, this.ui.texts.elsewhere.newer);
    errorPage(this.ui, error, this.outbox, this.joined?.study.contact ?? "");
  }

  /** Waits until this tab is the only one of this study and participant. */
  private async becomeWriter(): Promise<void> {
    const { ownerName } = this;
    const onLost = () => {
      this.outbox?.stop();
      this.watch?.close();
      void leaveFullscreen();
      takenPage(this.ui, this.ui.texts.elsewhere.taken);
    };
    // Who said on the page before that they go on here is not asked again.
    const isDecided = (history.state as { goesOn?: boolean } | null)?.goesOn === true;
    if (isDecided) history.replaceState(null, "");
    let letGo = isDecided ? null : await becomeWriter(ownerName, false, onLost);
    if (letGo !== null) return void (this.letGo = letGo);
    if (!isDecided) await otherTabPage(this.ui);
    letGo = await becomeWriter(ownerName, true, onLost);
    this.letGo = letGo ?? this.letGo;
    this.ui.notice({ name: "loading", title: this.ui.texts.loading });
    // The other tab may just be writing its last.
    await sleep(300);
  }

  /** Sends what visits to other studies left behind, where no tab is at work on it. */
  private async sendStray(): Promise<void> {
    const owners = new Set((await this.store.chains()).map(({ owner }) => owner));
    owners.delete(this.ownerName);
    const send = async (owner: string) => {
      const stray = new Outbox(this.store, sendEvents);
      const letGo = await becomeWriter(owner, false, () => stray.stop());
      if (letGo === null) return;
      await stray.open(owner);
      await Promise.race([stray.olderDrained(), sleep(STRAY_WAIT_MS)]);
      stray.stop();
      letGo();
    };
    await Promise.all([...owners].map(send));
  }

  private listen(outbox: Outbox): void {
    // Told at once, and not only when the next trials are asked for: each is one more that was seen twice.
    const stop = outbox.watch(() => {
      if (!outbox.isTaken) return;
      stop();
      this.watch?.close();
      this.fail(new ApiError("epoch_over", "", 409));
    });
    addEventListener("online", () => outbox.ask());
    addEventListener("pageshow", () => outbox.kick());
    addEventListener("pagehide", () => outbox.leave());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") outbox.leave();
      else outbox.kick();
    });
  }

  private async welcome(): Promise<Welcome> {
    this.known = await this.store.owner(this.ownerName);
    const ask = () => api.welcome(this.study, joinRequest(this.arrival, this.known?.token ?? null, navigator.userAgent));
    try {
      return await this.retried(ask);
    } catch (error) {
      // A token that the server does not know any more is worth no more than none.
      const isOld = error instanceof ApiError && this.known !== null && (error.status === 401 || error.code.startsWith("token_"));
      if (!isOld) throw error;
      this.known = null;
      return await this.retried(ask);
    }
  }

  private async join(): Promise<void> {
    const { known, ownerName: owner } = this;
    this.joined = await this.retried(() => api.join(this.study, joinRequest(this.arrival, known?.token ?? null, navigator.userAgent)));
    const { session, token, pages_done, calibration } = this.joined;
    const isSameScreen = known?.session === session && known.screen === screenSignature();
    for (const page of pages_done) this.done.add(page);
    if (!isSameScreen) this.done.delete("calibration");
    else this.calibration = calibration;
    const wasStopped = known?.session === session && known.wasStopped;
    this.owner = { owner, session, token, screen: isSameScreen ? known!.screen : "", wasStopped };
    await this.saveOwner();
  }

  /** Whether the participant agreed, now or before. */
  private async consent(): Promise<boolean> {
    this.watch = new Watch(
      (change) => void this.tell(change),
      () => this.joined.study.fullscreen,
      () => this.desk?.onDisturbance(),
    );
    const { joined, ui, task } = this;
    if (this.done.has("consent")) {
      this.hasConsent = true;
      await welcomeBackPage(ui, joined.n_done, joined.n_total);
      return true;
    }
    if (this.hasConsent) return true;
    // Only where the page was lost between joining and the first event.
    const consent = await consentPage(ui, joined.study, task);
    if (!consent.agreed) return false;
    await this.agreed(consent.choices);
    return true;
  }

  private async agreed(choices: Record<string, string>): Promise<void> {
    this.hasConsent = true;
    // Asks the browser not to throw away what is stored here when space gets short.
    void navigator.storage?.persist?.().catch(() => false);
    await this.outbox!.append({ kind: "page", at_ms: performance.now(), page: "consent", choices });
  }

  private async tell(change: string): Promise<void> {
    if (!this.hasConsent) return;
    await this.outbox?.append({ kind: "context", at_ms: performance.now(), change }).catch(() => {});
  }

  private async finished(page: string, choices: Record<string, string>): Promise<void> {
    this.done.add(page);
    await this.outbox!.append({ kind: "page", at_ms: performance.now(), page, choices });
  }

  /** Everything between consent and the first block. */
  private async prepare(): Promise<void> {
    const { ui, task } = this;
    const { study } = this.joined;
    let refresh: Refresh | null = null;
    if (!this.done.has("gate")) {
      const passed = await gatePage(ui, study, task);
      refresh = passed.refresh;
      await this.finished("gate", passed.choices);
    }
    await this.fill();
    if (study.calibrate && !this.done.has("calibration")) await this.calibrate();
    const sound = await this.soundCheck();
    if (!this.done.has("instructions")) {
      await instructionsPage(ui, study, task);
      await this.finished("instructions", {});
    }
    await this.fill();
    this.desk = {
      study,
      texts: ui.texts,
      ui,
      outbox: this.outbox!,
      watch: this.watch,
      refresh: refresh ?? { period_ms: 1000 / 60, period_mad_ms: 0, share_late: 0, n_frames: 0 },
      stimulus_px: study.size_px,
      sound,
      wasWarned: this.done.has("gate_warning"),
      onDisturbance: () => {},
      append: (what) => this.outbox!.append(what),
      pause: () => this.pause(),
    };
  }

  private async fill(): Promise<void> {
    if (this.joined.study.fullscreen) await fillScreen();
  }

  /** The sound check is repeated on every load: sound must be started by a click of this page. */
  private async soundCheck(): Promise<Desk["sound"]> {
    const cue = this.joined.study.beep?.cue;
    if (this.task.name !== "beep" || cue === undefined || cue === "visual") return null;
    const { sound, choices } = await soundPage(this.ui, cue);
    await this.finished("sound", choices);
    return sound;
  }

  private async calibrate(): Promise<void> {
    const { study } = this.joined;
    const px_per_mm = await cardPage(this.ui);
    if (px_per_mm === null) {
      this.calibration = null;
      await this.finished("calibration", { card: "none" });
    } else {
      const measured = await distancePage(this.ui, px_per_mm);
      const distance_mm = measured?.distance_mm ?? null;
      this.calibration = {
        px_per_mm,
        distance_mm,
        distance_spread: measured?.spread ?? null,
        sweeps_px: measured?.sweeps_px ?? [],
        pixel_ratio: devicePixelRatio,
        stimulus_px: sidePx(study.size_deg, distance_mm ?? USUAL_DISTANCE_MM, px_per_mm),
      };
      await this.outbox!.append({ kind: "calibration", at_ms: performance.now(), calibration: this.calibration });
      await this.finished("calibration", { card: "yes", distance: measured === null ? "skipped" : "yes" });
    }
    this.owner.screen = screenSignature();
    await this.saveOwner();
  }

  /** Nobody comes back to a preview. */
  private async saveOwner(): Promise<void> {
    if (this.arrival.preview === null) await this.store.saveOwner(this.owner);
  }

  /** Block after block, until the server has none left. */
  private async blocks(): Promise<void> {
    const { ui, desk, task, joined } = this;
    const outbox = this.outbox!;
    let previous: Block | null = null;
    let isReplanned = false;
    for (let nEmpty = 0; ; ) {
      await saved(ui, outbox);
      ui.notice({ name: "measuring", title: ui.texts.loading }, h("p", {}, ui.texts.pause.measuring));
      desk.refresh = await this.measured(MEASURE_MS);
      const request = { screen: screenNow(desk.refresh) };
      const planned = await this.plannedFor(request);
      if (planned === null) {
        // Nothing of this screen's can be shown; the next round measures what it is then.
        await leaveFullscreen();
        const { exposures_ms, tolerance } = joined.study;
        const hasAnswers = previous !== null || 0 < joined.n_done;
        // Where the screen can, it is the browser that may not, and measuring again changes nothing.
        if (canShowAny(exposures_ms, desk.refresh.period_ms, tolerance, 0)) await unfitBrowserPage(ui, hasAnswers);
        else await unfitPage(ui, desk.refresh, joined.study, hasAnswers);
        continue;
      }
      const { block, n_done, n_total } = planned;
      if (block === null) {
        if (await this.end(false)) return;
        if (MOST_EMPTY_ROUNDS <= ++nEmpty) throw new ApiError("end_incomplete", "", 0);
        continue;
      }
      const isRing = desk.sound === null;
      const wanted_px = this.calibration?.stimulus_px ?? joined.study.size_px;
      const answers_px = task.hasAnswersBelow ? heightOf(ui.texts, block.trials[0]!.options) : 0;
      desk.stimulus_px = wholeSidePx(wanted_px, task.mostSide(innerWidth, innerHeight, isRing, answers_px), devicePixelRatio);
      const media = new Media(block.trials, Math.round(desk.stimulus_px * devicePixelRatio));
      try {
        let share = 0;
        const loading = media.load((now) => (share = now), () => {});
        loading.catch(() => {});
        if (!isReplanned) await this.intro(block, previous, n_done, n_total);
        await this.fill();
        // Leaving the window during a break is what breaks are for. From here on nothing is forgotten.
        if (!isReplanned) this.watch.settled();
        await this.loaded(loading, () => share);
        isReplanned = false;
        if (task.needsComputer && !isSameRefresh(desk.refresh, await this.measured(RECHECK_MS)) && ++nEmpty < MOST_EMPTY_ROUNDS) {
          isReplanned = true;
          continue;
        }
        const how = await task.run(desk, block, media);
        nEmpty = 0;
        if (how === "stop") {
          this.owner.wasStopped = true;
          await this.saveOwner();
          return void (await this.end(true));
        }
        isReplanned = how === "again";
        previous = block;
      } finally {
        desk.onDisturbance = () => {};
        media.close();
      }
    }
  }

  /** Asks for the next block; nothing when this screen cannot show any exposure. */
  private async plannedFor(request: BlockRequest): Promise<BlockAnswer | null> {
    const { session, token } = this.joined;
    try {
      return await this.retried(() => api.block(session, token, request));
    } catch (error) {
      if (error instanceof ApiError && error.code === "screen_unfit") return null;
      throw error;
    }
  }

  /** What is said before a block. */
  private async intro(block: Block, previous: Block | null, n_done: number, n_total: number): Promise<void> {
    const { ui, task, joined } = this;
    const isNewBeep = block.beep_ms !== null && block.beep_ms !== previous?.beep_ms;
    if (previous !== null && !previous.is_practice) {
      await breakPage(ui, joined.study, n_done, n_total);
      await this.finished("break", { n_done: String(n_done) });
    } else if (previous !== null && !block.is_practice) await practiceOverPage(ui);
    if (block.is_practice) await practicePage(ui, block, task.name === "beep");
    else if (isNewBeep) await beepBlockPage(ui, block.beep_ms!, joined.study.language);
  }

  private async loaded(loading: Promise<void>, share: () => number): Promise<void> {
    const { ui } = this;
    const progress = h("p", { role: "status" });
    const tell = () => (progress.textContent = ui.texts.pause.preparing(Math.round(share() * 100)));
    tell();
    ui.notice({ name: "preparing", title: ui.texts.loading }, progress);
    const timer = setInterval(tell, 250);
    await loading.finally(() => clearInterval(timer));
  }

  /** Measures the screen; frames do not come while the page is hidden, so it may take a while. */
  private async measured(for_ms: number): Promise<Refresh> {
    for (;;) {
      const refresh = await measureRefresh(for_ms);
      if (refresh !== null) return refresh;
      await sleep(500);
    }
  }

  /** Something came in between trials. Returns whether the rest of the block must be planned anew. */
  private async pause(): Promise<boolean> {
    const { ui, joined, desk } = this;
    const ratio = this.calibration?.pixel_ratio ?? devicePixelRatio;
    const isZoomed = ratio !== devicePixelRatio;
    const what = await pausePage(ui, joined.study, isZoomed);
    await this.fill();
    if (what === "measure") await this.calibrate();
    this.watch.settled();
    ui.notice({ name: "measuring", title: ui.texts.loading }, h("p", {}, ui.texts.pause.measuring));
    const refresh = await this.measured(RECHECK_MS);
    return what === "measure" || (this.task.needsComputer && !isSameRefresh(refresh, desk.refresh));
  }

  /** Asks for the code. False when the server still has trials for us. */
  private async end(isEarly: boolean): Promise<boolean> {
    const { ui, joined } = this;
    const outbox = this.outbox!;
    for (let round = 1; ; round++) {
      await saved(ui, outbox);
      const request = { last_seq: outbox.lastSeq, is_early: isEarly };
      const answer = await this.retried(() => api.end(joined.session, joined.token, request));
      if (answer.ending !== null) {
        await outbox.close(joined.session);
        await leaveFullscreen();
        this.ended(answer.code, answer.completion_url, answer.ending);
        return true;
      }
      if (0 < answer.missing.length) await outbox.resend(answer.missing);
      else if (0 < answer.n_trials_left) return false;
      if (MOST_EMPTY_ROUNDS <= round) throw new ApiError("end_incomplete", "", 0);
    }
  }

  private ended(code: string | null, completionUrl: string | null, ending: Ending | null): void {
    const { ui, joined, owner } = this;
    const why = ending === "complete" ? "all" : owner.wasStopped ? "stopped" : "early";
    if (ending === "nothing_left") nothingLeftPage(ui, joined.study);
    else endPage(ui, joined.study, code, completionUrl, why, this.outbox!);
  }

  private async withdraw(): Promise<void> {
    const { ui } = this;
    ui.notice({ name: "withdrawing", title: ui.texts.leave.working });
    await this.erase();
    await leaveFullscreen();
    withdrawnPage(ui);
  }

  /** No consent: nothing may be kept. */
  private async refuse(): Promise<void> {
    await this.erase();
    this.refused();
  }

  private refused(): void {
    const { refused } = this.ui.texts.consent;
    this.ui.last({ name: "refused", title: refused.title }, h("p", {}, refused.text));
  }

  private async erase(): Promise<void> {
    const { joined, store, owner } = this;
    this.outbox!.stop();
    this.watch.close();
    try {
      await this.retried(() => api.withdraw(joined.session, joined.token));
    } catch (error) {
      // Deleted already is deleted.
      if (!(error instanceof ApiError) || error.status !== 410) throw error;
    }
    await this.outbox!.erase(joined.session);
    await store.dropOwner(owner.owner);
  }

  /** Asks until there is an answer, or a refusal that no waiting changes. */
  private async retried<T>(ask: () => Promise<T>): Promise<T> {
    for (let nFailures = 1; ; nFailures++) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof ApiError) || !error.isTransient) throw error;
        if (nFailures === 2) this.ui.notice({ name: "connecting", title: this.ui.texts.loading }, h("p", { role: "status" }, this.ui.texts.connecting));
        const wait = Math.max(error.wait_ms, retryDelay(nFailures, Math.random()));
        await Promise.race([sleep(wait), new Promise((resolve) => addEventListener("online", resolve, { once: true }))]);
      }
    }
  }
}
