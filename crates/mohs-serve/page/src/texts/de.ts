// The page's own words in German.
import type { Texts } from "./en";

const n = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

export const de: Texts = {
  next: "Weiter",
  back: "Zurück",
  again: "Noch einmal",
  preview: "Vorschau: Nichts wird gezählt.",

  loading: "Einen Moment …",
  connecting: "Keine Verbindung. Wir versuchen es weiter.",

  launch: {
    title: "Diese Studie öffnet sich in einem eigenen Fenster",
    text: "Bilder müssen zu genauen Zeitpunkten erscheinen. Das geht nicht innerhalb einer anderen Seite.",
    button: "Studie öffnen",
    preview: "Dies ist eine Vorschau. Bitte nehmen Sie die Aufgabe zuerst an; dann öffnet sich die Studie hier.",
  },

  elsewhere: {
    title: "Schon in einem anderen Tab offen",
    text: "Diese Studie ist in einem anderen Tab oder Fenster dieses Browsers offen. Bitte machen Sie dort weiter, oder stattdessen hier.",
    button: "Hier weitermachen",
    taken: "Sie haben in einem anderen Tab oder Fenster weitergemacht. Dieses können Sie schließen.",
    newer: "Sie haben diese Studie auf einem anderen Gerät oder in einem anderen Fenster fortgesetzt. Sie können dieses schließen oder hier weitermachen.",
  },

  computer: {
    title: "Bitte benutzen Sie einen Computer",
    text: "Diese Studie braucht einen größeren Bildschirm und eine Tastatur oder Maus. Bitte öffnen Sie diese Adresse an einem Laptop oder Desktop-Computer:",
    copy: "Adresse kopieren",
    copied: "Kopiert",
  },

  welcomeBack: {
    title: "Willkommen zurück",
    text: "Ihre bisherigen Antworten sind sicher. Sie machen dort weiter, wo Sie aufgehört haben.",
    progress: (done, total) => `${done} von ${total} erledigt.`,
  },

  consent: {
    title: "Bevor Sie anfangen",
    facts: { minutes: "Dauer", pay: "Sie bekommen", contact: "Kontakt", age: "Alter" },
    minutes: (count) => `etwa ${n(count, "Minute", "Minuten")}`,
    age: (min) => `ab ${min} Jahren`,
    text: {
      flash: "Sie sehen Bilder, manche davon nur sehr kurz. Nach jedem sagen Sie, was darauf war.",
      beep: "Sie sehen Bilder. Sie sagen im Augenblick eines Signals, was darauf ist.",
      pairs: "Sie sehen jeweils zwei Bilder. Sie sagen, welches schwerer zu erkennen ist.",
      rate: "Sie sehen Bilder. Sie sagen ohne Eile, was darauf ist.",
    },
    rights: [
      "Die Teilnahme ist freiwillig. Sie können jederzeit aufhören, ohne einen Grund zu nennen.",
      "Wir speichern Ihre Antworten, deren Zeitpunkte und die Art Ihres Browsers und Bildschirms. Wir speichern weder Ihren Namen noch Ihre Internetadresse.",
      "Sie können Ihre Daten während der Studie jederzeit löschen lassen: Jede Seite hat dafür einen Knopf, außer während Bilder gezeigt werden.",
    ],
    photosensitive: "Bilder erscheinen und verschwinden schnell. Bitte nehmen Sie nicht teil, wenn Sie eine fotosensitive Epilepsie haben oder Ihnen von flackerndem Licht schon einmal unwohl geworden ist. Sitzen Sie in einem hellen Raum.",
    read: "Ich habe das gelesen und möchte teilnehmen.",
    old: (min) => `Ich bin mindestens ${min} Jahre alt.`,
    safe: "Ich habe keine fotosensitive Epilepsie, und von flackerndem Licht wird mir nicht unwohl.",
    agree: "Ich bin einverstanden, los",
    refuse: "Ich möchte nicht teilnehmen, oder etwas davon trifft auf mich nicht zu",
    missing: "Bitte kreuzen Sie jedes Kästchen an, oder nehmen Sie nicht teil.",
    refused: {
      title: "Danke für Ihr Interesse",
      text: "Sie nehmen nicht teil. Über Sie wurde nichts gespeichert. Sie können diese Seite schließen.",
    },
  },

  gate: {
    title: "Ist alles bereit?",
    checking: "Wird geprüft … bitte lassen Sie dieses Fenster vorne.",
    browser: "Browser",
    browserOk: (name) => `${name}: in Ordnung`,
    browserOther: (name) => `${name}: geht. Chrome oder Edge zeigen die kürzesten Bilder genauer.`,
    size: "Fenster",
    sizeOk: (w, h) => `${w} × ${h}: groß genug`,
    sizeSmall: (w, h, minW, minH) =>
      `${w} × ${h}: zu klein. Bitte machen Sie das Fenster mindestens ${minW} × ${minH} groß, oder verkleinern Sie den Zoom.`,
    screen: "Bildschirm",
    screenOk: (hz) => `${hz} Bilder pro Sekunde: in Ordnung`,
    screenSlow: (hz) =>
      `${hz} Bilder pro Sekunde: langsam. Bitte schließen Sie das Netzteil an, schalten Sie den Energiesparmodus aus, schließen Sie andere Fenster und prüfen Sie noch einmal.`,
    screenNone: "Wir konnten es nicht messen. Bitte lassen Sie dieses Fenster vorne und prüfen Sie noch einmal.",
    fullscreen: "Die Studie füllt den Bildschirm. Mit der Esc-Taste können Sie das jederzeit beenden.",
    tips: "Bitte schließen Sie andere Programme, schalten Sie Benachrichtigungen aus und sitzen Sie bequem in einem hellen Raum.",
    recheck: "Noch einmal prüfen",
    anyway: "Trotzdem weiter",
  },

  unfit: {
    title: (hz) => `Ihr Bildschirm (${hz} Hz) kann diese Studie nicht zeigen`,
    text: "Die Bilder müssen genau bestimmte Zeiten lang zu sehen sein, und keine davon passt dazu, wie oft Ihr Bildschirm ein neues Bild zeichnet.",
    exposures: (list) => `Die Bilder müssen genau bestimmte Zeiten lang zu sehen sein (${list} ms), und keine davon passt dazu, wie oft Ihr Bildschirm ein neues Bild zeichnet.`,
    todo: "Was Sie tun können:",
    steps: [
      "Schließen Sie das Netzteil an und schalten Sie den Energiesparmodus aus.",
      "Wählen Sie in den Anzeigeeinstellungen Ihres Computers eine andere Bildwiederholrate, oder ziehen Sie dieses Fenster auf einen anderen Bildschirm.",
      "Oder öffnen Sie denselben Link an einem anderen Computer.",
    ],
    noCode: "Wenn nichts davon hilft, können Sie mit diesem Bildschirm nicht teilnehmen, und es gibt keinen Abschlusscode. Wenn Sie von einer Vermittlungsseite kommen, geben Sie die Aufgabe dort bitte zurück. Danke für den Versuch!",
    kept: "Ihre bisherigen Antworten bleiben erhalten.",
    browser: {
      title: "Dieser Browser kann diese Studie nicht zeigen",
      text: "Die Bilder sind so kurz zu sehen, dass nicht jeder Browser das genau genug kann.",
      todo: "Bitte öffnen Sie denselben Link an einem Computer in Chrome, Edge oder einem anderen Browser, in dem Chromium steckt:",
      noCode: "Ohne einen solchen Browser können Sie nicht teilnehmen, und es gibt keinen Abschlusscode. Wenn Sie von einer Vermittlungsseite kommen, geben Sie die Aufgabe dort bitte zurück. Danke für den Versuch!",
    },
  },

  card: {
    title: "Wie groß ist Ihr Bildschirm?",
    text: "Halten Sie eine Bankkarte, oder eine Karte dieser Größe, an den Bildschirm. Machen Sie den Rahmen genau so groß wie die Karte.",
    how: "Ziehen Sie an der Ecke, bewegen Sie den Regler, oder benutzen Sie die Pfeiltasten.",
    label: "Breite des Rahmens",
    frame: "Rahmen für die Karte",
    done: "Der Rahmen passt zu meiner Karte",
    noCard: "Ich habe keine Karte",
    width: (px) => `${px} Pixel`,
  },

  distance: {
    title: "Wie weit sitzen Sie entfernt?",
    steps: [
      "Sitzen Sie so, wie Sie während der Studie sitzen werden.",
      "Bedecken Sie Ihr rechtes Auge mit der Hand.",
      "Schauen Sie mit dem linken Auge die ganze Zeit auf das schwarze Quadrat. Folgen Sie dem Punkt nicht.",
      "Drücken Sie die Leertaste (oder tippen Sie auf das Feld), sobald der Punkt verschwindet. Drücken Sie wieder, sobald er zurückkommt.",
    ],
    start: "Start",
    skip: "Überspringen",
    skipNote: "Sie können das überspringen. Die Größe der Bilder richtet sich dann nach einem üblichen Abstand.",
    vanish: "Drücken Sie, wenn der Punkt verschwindet.",
    reappear: "Drücken Sie, wenn der Punkt zurückkommt.",
    round: (i, total) => `${i} von ${total}`,
    closer: "Der Punkt hat den Bildschirm verlassen. Bitte setzen Sie sich etwas näher heran und schauen Sie weiter auf das Quadrat.",
    spread: "Das passte nicht gut zusammen. Bitte versuchen Sie es noch einmal und schauen Sie weiter auf das Quadrat.",
    done: (cm) => `Sie sitzen etwa ${cm} cm entfernt. Bitte bleiben Sie bei diesem Abstand.`,
    field: "Feld mit dem bewegten Punkt. Drücken Sie die Leertaste oder tippen Sie.",
  },

  sound: {
    title: "Hören Sie den Ton?",
    text: "Schalten Sie den Ton ein, in angenehmer Lautstärke. Am besten sind Kopfhörer mit Kabel oder Lautsprecher: Kabellose sind oft zu spät.",
    play: "Ton abspielen",
    heard: "Ich höre ihn deutlich",
    visual: "Stattdessen einen Ring auf dem Bildschirm",
    visualText: "Ein Ring schließt sich um das Bild. Wenn er geschlossen ist, antworten Sie.",
    late: "Ihr Ton kommt recht spät. Falls Sie kabellose Kopfhörer benutzen, nehmen Sie bitte welche mit Kabel oder die Lautsprecher.",
    none: "Der Ton ließ sich nicht einschalten.",
  },

  instructions: {
    title: "Was Sie tun werden",
    flash: [
      "Schauen Sie auf das Kreuz in der Mitte.",
      "Ein Bild erscheint, oft nur sehr kurz, und dann ein Muster.",
      "Wählen Sie dann, was auf dem Bild war. Wenn Sie unsicher sind, raten Sie.",
    ],
    beep: [
      "Schauen Sie auf das Kreuz in der Mitte. Klicken Sie darauf, oder drücken Sie Enter, um zu beginnen.",
      "Ein Bild erscheint. Entscheiden Sie, was darauf ist.",
      "Antworten Sie genau beim Signal: nicht vorher, nicht lange danach. Pünktlichkeit ist das Wichtigste; raten Sie, wenn nötig.",
    ],
    pairs: ["Sie sehen zwei Bilder.", "Wählen Sie das, das schwerer zu erkennen ist.", "Vertrauen Sie Ihrem ersten Eindruck."],
    rate: ["Sie sehen ein Bild.", "Wählen Sie, was darauf ist. Nehmen Sie sich Zeit.", "Wenn Sie unsicher sind, raten Sie."],
    keysGrid: "Mit der Tastatur: Tippen Sie die ersten Buchstaben, oder benutzen Sie die Pfeiltasten, dann Enter.",
    keysPairs: "Mit der Tastatur: Pfeiltasten nach links und rechts.",
    keysTie: "Die Pfeiltaste nach unten heißt „etwa gleich“.",
    labels: "Das sind die möglichen Antworten:",
    start: "Start",
  },

  practice: {
    title: "Zuerst etwas Übung",
    text: (count) => `${n(count, "Bild", "Bilder")} zum Eingewöhnen.`,
    untimed: "Noch kommt kein Signal: Antworten Sie, wenn Sie so weit sind.",
    over: "Die Übung ist vorbei",
    overText: "Jetzt beginnt die Studie.",
  },

  beepBlock: {
    title: "Nächster Teil",
    text: (seconds) => `In diesem Teil kommt das Signal ${seconds} Sekunden nach dem Bild.`,
  },

  pause: {
    title: "Pause",
    text: "Ruhen Sie Ihre Augen einen Moment aus. Machen Sie weiter, wenn Sie so weit sind.",
    progress: (done, total) => `${done} von ${total} erledigt`,
    sit: "Bitte sitzen Sie wie vorher.",
    lost: "Angehalten",
    lostText: "Die Studie war nicht im Vordergrund. Das nächste Bild wird vielleicht übersprungen; das macht nichts.",
    fullscreen: "Wenn Sie weitermachen, füllt die Studie wieder den Bildschirm.",
    zoom: "Der Zoom oder der Bildschirm hat sich geändert. Bitte stellen Sie ihn zurück (Strg und 0), oder messen Sie neu.",
    measure: "Neu messen",
    preparing: (share) => `Bilder werden geladen … ${share} %`,
    measuring: "Der Bildschirm wird gemessen …",
  },

  beep: {
    start: "Klicken Sie auf das Kreuz, oder drücken Sie Enter",
    early: "Zu früh",
    late: "Zu spät",
    ok: "Pünktlich",
    noAnswer: "Zu spät: keine Antwort",
    counter: (i, total) => `${i} / ${total}`,
    warnTitle: "Bitte antworten Sie beim Signal",
    warn: (percent) =>
      `Bisher kamen ${percent} % Ihrer Antworten pünktlich. Bitte wählen Sie genau dann, wenn das Signal kommt, auch wenn Sie raten müssen.`,
    warnStop: "Wenn das nicht gelingt, endet die Studie früher.",
    reminder: "Hier ist eine kurze Übung ohne Bilder: Drücken Sie beim Signal auf den Knopf oder Enter.",
    reminderGo: "Übung beginnen",
    reminderPress: "Jetzt beim Signal",
    reminderDone: (inTime, total) => `${inTime} von ${total} pünktlich. Jetzt zurück zu den Bildern.`,
    stopTitle: "Wir hören hier auf",
    stop: "Das Antworten beim Signal ging nicht gut genug. Danke für den Versuch; Ihre Antworten bleiben erhalten.",
  },

  pairs: {
    question: (label) => `Welches ist schwerer zu erkennen als: ${label}?`,
    questionAny: "Welches ist schwerer zu erkennen?",
    left: "Links",
    right: "Rechts",
    upper: "Oben",
    lower: "Unten",
    tie: "Etwa gleich",
  },

  grid: {
    question: "Was war es?",
    questionNow: "Was ist es?",
    label: "Antworten",
    more: "Weiter unten sind noch mehr Antworten",
    typed: (text) => `Getippt: ${text}`,
  },

  saving: {
    title: "Ihre Antworten werden gespeichert",
    left: (count) => (count === 0 ? "Ein wenig muss noch gespeichert werden." : `${n(count, "Antwort muss", "Antworten müssen")} noch gespeichert werden.`),
    keep: "Bitte lassen Sie diese Seite offen. Es geht von selbst weiter, sobald die Verbindung wieder da ist.",
    long: "Das dauert lange. Zur Sicherheit können Sie Ihre Antworten herunterladen und den Forschenden schicken. Sie können diese Seite auch schließen und denselben Link später öffnen: Ihre Antworten bleiben in diesem Browser.",
    download: "Meine Antworten herunterladen",
  },

  end: {
    title: "Vielen Dank!",
    early: "Sie haben früher aufgehört. Ihre bisherigen Antworten bleiben erhalten.",
    all: "Sie sind fertig, und alle Ihre Antworten sind gespeichert.",
    through: "Sie sind fertig.",
    preview: "Das war eine Vorschau: Nichts wurde gezählt. Teilnehmende sehen hier, wie ihre Sitzung geendet hat, und ihren Abschlusscode.",
    code: "Ihr Abschlusscode:",
    noCode: "Es gibt keinen Abschlusscode. Wenn Sie von einer Vermittlungsseite kommen, geben Sie die Aufgabe dort bitte zurück.",
    copy: "Code kopieren",
    copied: "Kopiert",
    onward: "Abschließen und weiter",
    close: "Sie können diese Seite schließen.",
  },

  nothingLeft: {
    title: "Für Sie ist hier nichts mehr zu tun",
    text: "Im Moment gibt es kein Bild, das wir Ihnen zeigen könnten: Jedes wird nur eine begrenzte Zahl von Malen gezeigt, und jeder Person nur einmal.",
    code: "Deshalb gibt es nichts zu tun und auch keinen Abschlusscode. Wenn Sie von einer Vermittlungsseite kommen, geben Sie die Aufgabe dort bitte zurück. Vielen Dank für Ihr Interesse!",
    contact: (contact: string) => `Fragen? ${contact}`,
  },

  leave: {
    button: "Nicht mehr teilnehmen",
    title: "Möchten Sie aufhören?",
    text: "Sie können weitermachen, aufhören und Ihre Antworten der Studie lassen, oder aufhören und alles löschen lassen. Wenn Sie früher aufhören, steht das in Ihrem Abschlusscode; ohne eine einzige Antwort gibt es keinen.",
    stay: "Weitermachen",
    stop: "Aufhören, Antworten behalten",
    withdraw: "Aufhören und meine Daten löschen",
    sure: "Alles löschen?",
    sureText: "Alle Ihre Antworten in dieser Studie werden sofort gelöscht. Das lässt sich nicht rückgängig machen, und Sie bekommen hier keinen Abschlusscode.",
    yes: "Ja, meine Daten löschen",
    working: "Wird gelöscht …",
    done: "Ihre Daten sind gelöscht",
    doneText: "Alles, was Sie in dieser Studie getan haben, ist gelöscht. Sie können diese Seite schließen.",
  },

  error: {
    title: "Etwas ist schiefgegangen",
    titles: {
      id_missing: "Bitte öffnen Sie die Studie über Ihre Einladung",
      session_over: "Diese Studie ist für Sie zu Ende",
      proof_missing: "Bitte tun Sie das in Ihrem ersten Browser",
    },
    reason: "Grund",
    text: "Bitte versuchen Sie es später noch einmal. Wenn es wieder passiert, schreiben Sie den Forschenden und nennen Sie den Grund, der unten steht.",
    safe: "Ihre Antworten bleiben in diesem Browser erhalten.",
    refused: "Nicht alle Ihre Antworten ließen sich speichern. Bitte laden Sie sie herunter und schicken Sie sie den Forschenden.",
    download: "Meine Antworten herunterladen",
    reload: "Seite neu laden",
  },

  codes: {
    study_unknown: "Diese Studie gibt es hier nicht. Bitte prüfen Sie die Adresse.",
    study_closed: "Diese Studie ist beendet. Danke für Ihr Interesse.",
    study_full: "Diese Studie hat genug Teilnehmende. Danke für Ihr Interesse.",
    id_missing: "In der Adresse dieser Seite fehlt Ihre Kennung. Bitte gehen Sie dorthin zurück, wo Sie eingeladen wurden, zum Beispiel auf die Seite, die Teilnehmende vermittelt, und öffnen Sie die Studie mit dem Link oder Knopf dort.",
    session_over: "Die Sitzung dieses Links ist zu Ende. Falls es einen Abschlusscode gibt, zeigt ihn der Browser wieder, in dem sie geendet hat, und nur er: Öffnen Sie dort denselben Link. Wenn Sie den Code verloren haben, schreiben Sie bitte den Forschenden, wann Sie teilgenommen haben: Sie können ihn nachsehen.",
    proof_missing: "Ihre Sitzung hat in einem anderen Browser oder auf einem anderen Gerät begonnen und enthält Antworten von dort. Um sie früher zu beenden oder alles löschen zu lassen, öffnen Sie bitte dort denselben Link, oder schreiben Sie den Forschenden. Sie können diese Seite auch neu laden und weitermachen.",
    consent_missing: "Ihre Einwilligung ist nicht angekommen. Bitte laden Sie die Seite neu und stimmen Sie noch einmal zu.",
    token_bad: "Diese Seite ist veraltet. Bitte laden Sie sie neu; Ihre Antworten sind sicher.",
    session_withdrawn: "Sie haben Ihre Teilnahme beendet, und Ihre Daten wurden gelöscht.",
    event_conflict: "Diese Studie ist an zwei Stellen offen. Bitte schließen Sie eine und laden Sie die andere neu.",
    media_damaged: "Ein Bild ist nicht richtig angekommen.",
    screen_unfit: "Ihr Bildschirm kann diese Studie nicht zeigen: Die Zeiten ihrer Bilder passen nicht dazu, wie oft er ein neues Bild zeichnet. Danke für Ihr Interesse.",
    no_screen: "Der Bildschirm ließ sich nicht messen.",
  },
};
