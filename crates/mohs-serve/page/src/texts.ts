// The page's words by language.
import { de } from "./texts/de";
import { en, type Texts } from "./texts/en";

/** English for languages the page does not speak. */
export function textsFor(language: string): Texts {
  return language.toLowerCase().startsWith("de") ? de : en;
}
