// What the review page knows: filters, counts and where to go next.
import { describe, expect, it } from "vitest";
import { clamped, counted, matching, nextUndecided, parseView, type Picture, renderView, values, type Verdict } from "../src/review/state";

function picture(number: number, level: string, verdict: Verdict): Picture {
  return { number, stimulus: `s${number}`, label: number % 2 ? "mug" : "bird", attribute: "size", level, step: "1", prompt: "", verdict, reason: "" };
}

const pictures = [picture(0, "easy", "accepted"), picture(1, "hard", "undecided"), picture(2, "easy", "rejected"), picture(3, "hard", "undecided")];
const all = { label: "", attribute: "", level: "", verdict: "" };

describe("the review page", () => {
  it("shows what every filter lets through", () => {
    expect(matching(pictures, all)).toHaveLength(4);
    expect(matching(pictures, { ...all, level: "easy", label: "bird" }).map((one) => one.number)).toEqual([0, 2]);
    expect(matching(pictures, { ...all, verdict: "rejected" }).map((one) => one.number)).toEqual([2]);
  });

  it("offers values in the order they come", () => {
    expect(values(pictures, "level")).toEqual(["easy", "hard"]);
  });

  it("counts decisions", () => {
    expect(counted(pictures)).toEqual({ n: 4, nAccepted: 1, nRejected: 1 });
  });

  it("goes to the next undecided picture, round the end, and says when there is none", () => {
    expect(nextUndecided(pictures, -1)).toBe(1);
    expect(nextUndecided(pictures, 1)).toBe(3);
    expect(nextUndecided(pictures, 3)).toBe(1);
    expect(nextUndecided(pictures.slice(2, 3), 0)).toBe(-1);
    expect(nextUndecided([], 0)).toBe(-1);
  });

  it("stays inside the list", () => {
    expect([clamped(-1, 3), clamped(9, 3), clamped(1, 3), clamped(5, 0)]).toEqual([0, 2, 1, 0]);
  });

  it("finds its view again in the address", () => {
    const view = { filter: { ...all, label: "golden retriever", level: "hard" }, isGrid: true };
    expect(parseView(renderView(view))).toEqual(view);
    expect(renderView({ filter: all, isGrid: false })).toBe("");
  });
});
