package predicate

// The words of the language, in one place for lexer, parser and printer.

var eventWords = [...]string{
	Send: "send", Delivery: "delivery", Open: "open", Click: "click", Bounce: "bounce",
	Complaint: "complaint", Reject: "reject", DeliveryDelay: "delivery_delay", ActivityEvent: "activity",
}

// eventOfVerb has the words by which people often ask whether an event happened.
var eventOfVerb = map[string]EventKind{
	"sent": Send, "received": Delivery, "delivered": Delivery, "opened": Open, "clicked": Click,
	"bounced": Bounce, "complained": Complaint, "rejected": Reject,
}

var opWords = [...]string{
	Equal: "=", NotEqual: "!=", Less: "<", LessOrEqual: "<=", Greater: ">", GreaterOrEqual: ">=",
}

var matchWords = [...]string{StartsWith: "starts with", EndsWith: "ends with", Contains: "contains"}

var testWords = [...]string{
	Count: "count", Exists: "exists", Sum: "sum", Avg: "avg", Min: "min", Max: "max", Last: "last", First: "first",
}

// String returns the operator as it is written. It is also valid SQL, where the standard
// spelling of "!=" is "<>".
func (o Op) String() string { return opWords[o] }

// String returns the match as it is written: "starts with".
func (m MatchKind) String() string { return matchWords[m] }

// String returns the test as it is written: "count".
func (k EventTestKind) String() string { return testWords[k] }

// String returns the event as it is written: "delivery_delay"; "activity" for all
// activities.
func (k EventKind) String() string { return eventWords[k] }

// reserved has the words that a bare property name must not be.
var reserved = map[string]bool{
	"all": true, "and": true, "avg": true, "between": true, "contains": true, "count": true, "ends": true,
	"exists": true, "first": true, "from": true, "has": true, "in": true, "is": true, "known": true,
	"last": true, "list": true, "max": true, "min": true, "not": true, "now": true, "of": true, "opted": true,
	"or": true, "out": true, "segment": true, "starts": true, "subscribed": true, "sum": true,
	"suppressed": true, "to": true, "true": true, "false": true, "unknown": true, "unsubscribed": true,
	"where": true, "within": true, "with": true,
}
