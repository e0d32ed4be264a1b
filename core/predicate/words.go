package predicate

import (
	"maps"
	"slices"
)

// The keywords of the predicate language, shared by the parser and the printer.

var eventWords = [...]string{
	Send: "send", Delivery: "delivery", Open: "open", Click: "click", Bounce: "bounce",
	Complaint: "complaint", Reject: "reject", DeliveryDelay: "delivery_delay", ActivityEvent: "activity",
}

// eventOfVerb maps verbs that authors may write by mistake, such as "opened", to the kind
// of event that they mean. The error message for such a verb suggests a test of this kind
// of event.
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

// String returns the operator as it is written in predicates. It is also valid SQL,
// although standard SQL writes "<>" for "!=".
func (o Op) String() string { return opWords[o] }

// String returns the operator as it is written in predicates, such as "starts with".
func (m MatchKind) String() string { return matchWords[m] }

// String returns the keyword of the event test, such as "count".
func (k EventTestKind) String() string { return testWords[k] }

// String returns the keyword of the event kind, such as "delivery_delay". It is "activity"
// for ActivityEvent.
func (k EventKind) String() string { return eventWords[k] }

// reserved has the keywords that cannot be written as a bare property name. They need the
// prefix "property.".
var reserved = map[string]bool{
	"all": true, "and": true, "avg": true, "between": true, "contains": true, "count": true, "ends": true,
	"exists": true, "first": true, "from": true, "has": true, "in": true, "is": true, "known": true,
	"last": true, "list": true, "max": true, "min": true, "not": true, "now": true, "of": true, "opted": true,
	"or": true, "out": true, "segment": true, "starts": true, "subscribed": true, "sum": true,
	"suppressed": true, "to": true, "true": true, "false": true, "unknown": true, "unsubscribed": true,
	"where": true, "within": true, "with": true,
}

// Keywords returns the words of the language, sorted: operators, functions, events and the
// words that join them. It has no names, such as those of attributes.
func Keywords() []string {
	words := slices.AppendSeq(eventWords[:ActivityEvent:ActivityEvent], maps.Keys(reserved))
	slices.Sort(words)
	return slices.Compact(words)
}
