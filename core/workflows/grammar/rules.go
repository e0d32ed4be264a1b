package grammar

// Rule describes a setting, a step or the workflow itself.
type Rule struct {
	// Name is the words with which it begins, such as "send window".
	Name string
	Kind Kind
	// Form shows the parts: names in capitals, optional parts in [ ], alternatives with | or
	// on lines of their own.
	Form string
	// Meaning says what it does, in Markdown.
	Meaning string
	// Example is a valid setting or step.
	Example string
}

// Kind is the kind of a [Rule].
type Kind string

// The kinds of rules.
const (
	Whole   Kind = "workflow"
	Setting Kind = "setting"
	Step    Kind = "step"
)

// Rules returns the rules in the order in which people learn them.
func Rules() []Rule { return append([]Rule{}, rules...) }

var rules = []Rule{
	{
		"workflow", Whole, `workflow "NAME" v1 { SETTINGS STEPS }`,
		"A file has one workflow. Settings come before steps, in any order. Words are lower-case. `#` or `//` begins a comment.",
		"workflow \"Welcome\" v1 {\n  enter on segment \"new-customers\"\n\n  send \"welcome\"\n}",
	},

	{
		"enter on", Setting, "enter on segment \"KEY\" [where CONDITION]\n" +
			"enter on event EVENT [where CONDITION]\n" +
			"enter on activity.NAME [where CONDITION]\n" +
			"enter on DURATION before|after attr.NAME [where CONDITION]",
		"Says which contacts enter, exactly once in a workflow. `segment`: contacts who come into the segment. `event`: an event of mail, which is send, delivery, open, click, bounce, complaint, reject or delivery_delay. `activity.NAME`: an activity that you record. A duration `before` or `after` a datetime attribute: the time of each contact. `where` is a further condition about the contact.",
		`enter on segment "new-customers" where attr.plan = "pro"`,
	},
	{
		"exit when", Setting, `exit "NAME" when CONDITION`,
		"Ends the run of a contact early. Exits are tested before every step, in their order; the first that holds ends the run and is recorded by its name. At most 20.",
		`exit "bought" when exists(activity.purchase within 7d)`,
	},
	{
		"send window", Setting, `send window TIME-TIME in contact timezone`,
		"Messages leave only in this time of day, in the timezone of the contact. Others wait for the next window. A window may cross midnight. The timezone is `attr.timezone`; without it, UTC.",
		"send window 9am-5:30pm in contact timezone",
	},
	{
		"reentry", Setting, `reentry once | on rematch | per occurrence`,
		"Says whether a contact may enter again after its run ended. The default is `once`. `on rematch` and `per occurrence` mean the same: again each time the trigger happens. A contact who left by an exit does not enter while its condition holds.",
		"reentry on rematch",
	},
	{
		"frequency cap", Setting, `frequency cap NUMBER per DURATION | off`,
		"The limit on messages to one contact from all workflows, in place of the limit of the organization. Messages above it are skipped. `per week` is `per 1 week`.",
		"frequency cap 3 per 1 week",
	},
	{
		"enroll", Setting, `enroll forward | existing [since DURATION]`,
		"Says whether contacts enter for whom the trigger happened before the activation. The default is `existing` for a segment and `forward` for all others. A date with `existing` needs `since`.",
		"enroll existing since 30 days",
	},

	{
		"send", Step, `send "TEMPLATE" [via topic "TOPIC" | transactional]`,
		"Sends a template. `via topic` sends only to subscribers of the topic; a name of one word needs no quotes. `transactional` sends without regard to consent. The frequency cap holds for both.",
		`send "welcome" via topic "news"`,
	},
	{
		"wait", Step, `wait DURATION`,
		"Waits. A duration is a number and minutes, hours, days, weeks or months. A month is 30 days. The longest is 10 years.",
		"wait 3 days",
	},
	{
		"wait until", Step, `wait until DATE | attr.NAME`,
		"Waits until the beginning of a day in UTC, or until the time in a datetime attribute. It does not wait if that time is over or unknown.",
		"wait until 2026-12-24",
	},
	{
		"wait up to", Step, `wait up to DURATION until CONDITION [{ timeout: STEPS }]`,
		"Waits until the condition holds, at most for the duration. If the time is over first, the steps after `timeout:` run. Both ways then continue after the step.",
		"wait up to 2 weeks until exists(open within 14d) {\n  timeout:\n    send \"reminder\"\n}",
	},
	{
		"if", Step, `if CONDITION { STEPS } [else if CONDITION { STEPS }] [else { STEPS }]`,
		"Runs the steps of the first arm whose condition holds, then continues after the last arm. The arms have the paths `then`, `elseif1`, `elseif2` and so on, and `else`.",
		"if attr.plan = \"pro\" {\n  send \"pro-tips\"\n} else {\n  send \"upgrade\"\n}",
	},
	{
		"split", Step, `split { PERCENT%: { STEPS } PERCENT%: { STEPS } }`,
		"Divides contacts at random into shares that are 100% together. A contact always stays in its share. The arms have the paths `arm1`, `arm2` and so on.",
		"split {\n  50%: {\n    send \"short\"\n  }\n  50%: {\n    send \"long\"\n  }\n}",
	},
	{
		"hold out", Step, `hold out PERCENT%`,
		"Lets a share of the contacts leave, to compare them with the others. A percentage is a whole number from 1 to 99.",
		"hold out 10%",
	},
	{
		"repeat", Step, `repeat up to NUMBER every DURATION [until CONDITION] { STEPS }`,
		"Runs the steps at most this number of times, 100 at most, and waits for the duration before each pass. `until` is tested before each wait and before each pass; if it holds, the repetition ends.",
		"repeat up to 3 every 2 days until exists(click within 2d) {\n  send \"reminder\"\n}",
	},
	{
		"set", Step, `set attr.NAME = VALUE`,
		"Sets an attribute of the contact. The value must have its type, and be one of the values of an enum. `attr.email` cannot be set.",
		`set attr.plan = "trial"`,
	},
	{
		"add to list", Step, `add to list "KEY"`,
		"Adds the contact to a list.",
		`add to list "vip"`,
	},
	{
		"exit", Step, `exit`,
		"Ends the run of the contact.",
		"exit",
	},
}

// keywords has the words of the language, beside those of predicates.
var keywords = []string{
	"add", "after", "before", "cap", "contact", "day", "days", "else", "enroll", "enter", "event", "every", "existing", "exit",
	"forward", "frequency", "hold", "hour", "hours", "if", "in", "list", "minute", "minutes", "month", "months", "occurrence", "off",
	"on", "once", "out", "per", "reentry", "rematch", "repeat", "segment", "send", "set", "since", "split", "timeout", "timezone", "to",
	"topic", "transactional", "until", "up", "v1", "via", "wait", "week", "weeks", "when", "where", "window", "workflow",
}
