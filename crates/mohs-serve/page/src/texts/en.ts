// The page's own words in English. Short sentences, no jargon. Every other language has the type of
// this one, so a text that is missing there does not compile.

const n = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

export const en = {
  next: "Continue",
  back: "Back",
  again: "Try again",
  preview: "Preview: nothing is counted.",

  loading: "One moment …",
  connecting: "Waiting for the connection. We keep trying.",

  launch: {
    title: "This study opens in its own window",
    text: "Pictures must appear at exact times. That does not work inside another page.",
    button: "Open the study",
    preview: "This is a preview. Please accept the task first; then the study opens here.",
  },

  elsewhere: {
    title: "Already open in another tab",
    text: "This study is open in another tab or window of this browser. Please go on there, or go on here instead.",
    button: "Go on here",
    taken: "You went on in another tab or window. You can close this one.",
    newer: "You went on with this study on another device or in another window. You can close this one, or go on here.",
  },

  computer: {
    title: "Please use a computer",
    text: "This study needs a larger screen and a keyboard or mouse. Please open this address on a laptop or desktop computer:",
    copy: "Copy the address",
    copied: "Copied",
  },

  welcomeBack: {
    title: "Welcome back",
    text: "Your answers so far are safe. You go on where you stopped.",
    progress: (done: number, total: number) => `${done} of ${total} done.`,
  },

  consent: {
    title: "Before you start",
    facts: { minutes: "Time", pay: "You get", contact: "Contact", age: "Age" },
    minutes: (count: number) => `about ${n(count, "minute", "minutes")}`,
    age: (min: number) => `${min} or older`,
    text: {
      flash: "You will see pictures, some of them for a very short time. After each one you say what was on it.",
      beep: "You will see pictures. You say what is on each one at the moment of a signal.",
      pairs: "You will see two pictures at a time. You say which one is harder to recognise.",
      rate: "You will see pictures. You say what is on each one, without any hurry.",
    },
    rights: [
      "Taking part is voluntary. You can stop at any time, without giving a reason.",
      "We store your answers, their timing, and what kind of browser and screen you use. We do not store your name or your internet address.",
      "You can have your data deleted at any time during the study: every page has a button for it, except while pictures are shown.",
    ],
    photosensitive: "Pictures appear and vanish quickly. Please do not take part if you have photosensitive epilepsy, or if flashing light has ever made you feel unwell. Sit in a well-lit room.",
    read: "I have read this and I want to take part.",
    old: (min: number) => `I am ${min} years old or older.`,
    safe: "I do not have photosensitive epilepsy, and flashing light does not make me feel unwell.",
    agree: "I agree, start",
    refuse: "I do not want to take part, or one of these is not true for me",
    missing: "Please tick every box, or choose not to take part.",
    refused: {
      title: "Thank you for your interest",
      text: "You are not taking part. Nothing about you was stored. You can close this page.",
    },
  },

  gate: {
    title: "Is everything ready?",
    checking: "Checking … please keep this window in front.",
    browser: "Browser",
    browserOk: (name: string) => `${name}: fine`,
    browserOther: (name: string) => `${name}: works. Chrome or Edge show the shortest pictures more exactly.`,
    size: "Window",
    sizeOk: (w: number, h: number) => `${w} × ${h}: large enough`,
    sizeSmall: (w: number, h: number, minW: number, minH: number) =>
      `${w} × ${h}: too small. Please make the window at least ${minW} × ${minH}, or zoom out.`,
    screen: "Screen",
    screenOk: (hz: string) => `${hz} pictures per second: fine`,
    screenSlow: (hz: string) =>
      `${hz} pictures per second: slow. Please plug in your laptop, turn off power saving, close other windows, and check again.`,
    screenNone: "We could not measure it. Please keep this window in front and check again.",
    fullscreen: "The study will fill the screen. You can leave with the Esc key at any time.",
    tips: "Please close other programs, turn off notifications, and sit comfortably in a well-lit room.",
    recheck: "Check again",
    anyway: "Go on anyway",
  },

  unfit: {
    title: (hz: string) => `Your screen (${hz} Hz) cannot show this study`,
    text: "The pictures must stay for exact times, and none of them fits to how often your screen draws a new picture.",
    exposures: (list: string) => `The pictures must stay for exact times (${list} ms), and none of them fits to how often your screen draws a new picture.`,
    todo: "What you can do:",
    steps: [
      "Plug in your laptop and turn off power saving.",
      "Choose another refresh rate in the display settings of your computer, or move this window to another screen.",
      "Or open the same link on another computer.",
    ],
    noCode: "If nothing helps, you cannot take part with this screen, and there is no completion code. If you came from a recruiting site, please return the task there. Thank you for trying!",
    kept: "Your answers so far are kept.",
    browser: {
      title: "This browser cannot show this study",
      text: "The pictures are shown for so short a time that not every browser does it exactly enough.",
      todo: "Please open the same link in Chrome, Edge or another browser made of Chromium, on a computer:",
      noCode: "Without such a browser you cannot take part, and there is no completion code. If you came from a recruiting site, please return the task there. Thank you for trying!",
    },
  },

  card: {
    title: "How large is your screen?",
    text: "Hold a bank card, or any card of that size, against the screen. Make the frame exactly as large as the card.",
    how: "Drag the corner, move the slider, or use the arrow keys.",
    label: "Width of the frame",
    frame: "Card frame",
    done: "The frame fits my card",
    noCard: "I have no card",
    width: (px: number) => `${px} pixels`,
  },

  distance: {
    title: "How far away do you sit?",
    steps: [
      "Sit as you will sit during the study.",
      "Cover your right eye with your hand.",
      "Look at the black square with your left eye, all the time. Do not follow the dot.",
      "Press the space bar (or tap the field) the moment the dot vanishes. Press again the moment it comes back.",
    ],
    start: "Start",
    skip: "Skip this",
    skipNote: "You can skip this. Pictures are then sized for a usual distance.",
    vanish: "Press when the dot vanishes.",
    reappear: "Press when the dot comes back.",
    round: (i: number, total: number) => `${i} of ${total}`,
    closer: "The dot has left the screen. Please sit a little closer and keep looking at the square.",
    spread: "Those did not agree well. Please try once more, and keep looking at the square.",
    done: (cm: number) => `You sit about ${cm} cm away. Please stay at that distance.`,
    field: "Field with the moving dot. Press the space bar or tap.",
  },

  sound: {
    title: "Can you hear the beep?",
    text: "Turn your sound on, at a comfortable level. Wired headphones or speakers are best: wireless ones are often late.",
    play: "Play the beep",
    heard: "I can hear it clearly",
    visual: "Use a ring on the screen instead",
    visualText: "A ring closes around the picture. When it is closed, you answer.",
    late: "Your sound comes rather late. If you use wireless headphones, please use wired ones or the speakers.",
    none: "We could not start the sound.",
  },

  instructions: {
    title: "What you will do",
    flash: [
      "Look at the cross in the middle.",
      "A picture appears, often very briefly, and then a pattern.",
      "Then choose what was on the picture. If you are not sure, guess.",
    ],
    beep: [
      "Look at the cross in the middle. Click it, or press Enter, to start.",
      "A picture appears. Decide what is on it.",
      "Choose your answer exactly at the signal: not before, not long after. Being on time matters most; guess if you must.",
    ],
    pairs: ["You see two pictures.", "Choose the one that is harder to recognise.", "Trust your first impression."],
    rate: ["You see a picture.", "Choose what is on it. Take the time you need.", "If you are not sure, guess."],
    keysGrid: "With the keyboard: type the first letters, or use the arrow keys, then Enter.",
    keysPairs: "With the keyboard: left and right arrow keys.",
    keysTie: "The down arrow key means “about the same”.",
    labels: "These are the possible answers:",
    start: "Start",
  },

  practice: {
    title: "First some practice",
    text: (count: number) => `${n(count, "picture", "pictures")} to get used to it.`,
    untimed: "There is no signal yet: answer when you are ready.",
    over: "Practice is over",
    overText: "Now the study begins.",
  },

  beepBlock: {
    title: "Next part",
    text: (seconds: string) => `In this part the signal comes ${seconds} seconds after the picture.`,
  },

  pause: {
    title: "Break",
    text: "Rest your eyes for a moment. Go on when you are ready.",
    progress: (done: number, total: number) => `${done} of ${total} done`,
    sit: "Please sit as before.",
    lost: "Paused",
    lostText: "The study was not in front. The picture you were about to see may be skipped; that is fine.",
    fullscreen: "The study fills the screen again when you go on.",
    zoom: "The zoom or the screen has changed. Please set it back (Ctrl and 0), or measure again.",
    measure: "Measure again",
    preparing: (share: number) => `Loading pictures … ${share} %`,
    measuring: "Measuring the screen …",
  },

  beep: {
    start: "Click the cross, or press Enter",
    early: "Too early",
    late: "Too late",
    ok: "On time",
    noAnswer: "Too late: no answer",
    counter: (i: number, total: number) => `${i} / ${total}`,
    warnTitle: "Please answer at the signal",
    warn: (percent: number) =>
      `So far, ${percent} % of your answers were on time. Please choose exactly when the signal comes, even if you have to guess.`,
    warnStop: "If that does not work, the study ends early.",
    reminder: "Here is a short exercise without pictures: press the button, or Enter, at the signal.",
    reminderGo: "Start the exercise",
    reminderPress: "Now at the signal",
    reminderDone: (inTime: number, total: number) => `${inTime} of ${total} on time. Now back to the pictures.`,
    stopTitle: "We end here",
    stop: "Answering at the signal did not work well enough. Thank you for trying; your answers are kept.",
  },

  pairs: {
    question: (label: string) => `Which one is harder to recognise as ${label}?`,
    questionAny: "Which one is harder to recognise?",
    left: "Left",
    right: "Right",
    upper: "Upper",
    lower: "Lower",
    tie: "About the same",
  },

  grid: {
    question: "What was it?",
    questionNow: "What is it?",
    label: "Answers",
    more: "More answers below",
    typed: (text: string) => `Typed: ${text}`,
  },

  saving: {
    title: "Saving your answers",
    left: (count: number) => (count === 0 ? "A little is still to be saved." : `${n(count, "answer", "answers")} still to be saved.`),
    keep: "Please keep this page open. It goes on by itself as soon as the connection is back.",
    long: "This takes long. To be safe, you can download your answers and send them to the researchers. You can also close this page and open the same link later: your answers stay in this browser.",
    download: "Download my answers",
  },

  end: {
    title: "Thank you!",
    early: "You stopped early. Your answers so far are kept.",
    all: "You are done, and all your answers are saved.",
    through: "You are done.",
    preview: "This was a preview: nothing was counted. Participants see here how their session ended, and their completion code.",
    code: "Your completion code:",
    noCode: "There is no completion code. If you came from a recruiting site, please return the task there.",
    copy: "Copy the code",
    copied: "Copied",
    onward: "Finish and go on",
    close: "You can close this page.",
  },

  nothingLeft: {
    title: "There is nothing left for you here",
    text: "There is no picture that we could show you at the moment: each one is shown a limited number of times, and to each person only once.",
    code: "So there is nothing to do, and there is no completion code. If you came from a recruiting site, please return the task there. Thank you for your interest!",
    contact: (contact: string) => `Questions? ${contact}`,
  },

  leave: {
    button: "Stop taking part",
    title: "Do you want to stop?",
    text: "You can go on, stop and keep your answers for the study, or stop and have everything deleted. If you stop early, your completion code says so; without any answer there is none.",
    stay: "Go on with the study",
    stop: "Stop and keep my answers",
    withdraw: "Stop and delete my data",
    sure: "Delete everything?",
    sureText: "All your answers in this study are deleted at once. This cannot be undone, and you will not get a completion code here.",
    yes: "Yes, delete my data",
    working: "Deleting …",
    done: "Your data are deleted",
    doneText: "Everything you did in this study has been deleted. You can close this page.",
  },

  error: {
    title: "Something went wrong",
    titles: {
      id_missing: "Please open the study from your invitation",
      session_over: "This study is over for you",
      proof_missing: "Please do this in your first browser",
    } as Record<string, string>,
    reason: "Reason",
    text: "Please try again later. If it happens again, write to the researchers and tell them the reason below.",
    safe: "Your answers are kept in this browser.",
    refused: "Not all of your answers could be saved. Please download them and send them to the researchers.",
    download: "Download my answers",
    reload: "Load the page again",
  },

  codes: {
    study_unknown: "There is no such study here. Please check the address.",
    study_closed: "This study is closed. Thank you for your interest.",
    study_full: "This study has enough participants. Thank you for your interest.",
    id_missing: "There is no participant's id in the address of this page. Please go back to where you were invited, for example the recruiting site, and open the study with the link or button there.",
    session_over: "The session of this link has ended. The completion code, if there is one, is shown again in the browser in which it ended, and only there: open the same link in it. If you lost the code, please write to the researchers and tell them when you took part: they can look it up.",
    proof_missing: "Your session began in another browser or on another device, and has answers from there. To stop it early or to have everything deleted, please open the same link there, or write to the researchers. You can also load this page again and go on.",
    consent_missing: "Your consent did not arrive. Please load the page again and agree once more.",
    token_bad: "This page is out of date. Please load it again; your answers are safe.",
    session_withdrawn: "You withdrew from this study, and your data were deleted.",
    event_conflict: "This study is open in two places. Please close one and load the other again.",
    media_damaged: "A picture did not arrive correctly.",
    screen_unfit: "Your screen cannot show this study: the times of its pictures do not fit to how often your screen draws a new one. Thank you for your interest.",
    no_screen: "The screen could not be measured.",
  } as Record<string, string>,
};

export type Texts = typeof en;
