package predicate

import (
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// messageProperties has the properties of message events and their types, by kind of event.
// Events of every kind also have the properties of Send.
var messageProperties = map[EventKind]map[string]Type{
	Send:     {"subject": String, "template": String, "sender_domain": String},
	Click:    {"url": String},
	Bounce:   {"type": String, "sub_type": String},
	Delivery: {"processing_ms": Number},
}

// siteProperties has the built-in properties of every activity that a website reports.
var siteProperties = map[string]Type{
	"path": String, "referrer": String, "title": String,
	"utm_source": String, "utm_medium": String, "utm_campaign": String,
}

// IsSiteActivity reports whether activities of this name come from a website and so have
// the built-in properties. Such a name is "site_" followed by 1 to 60 characters of a-z,
// 0-9 and "_".
func IsSiteActivity(name string) bool {
	rest, found := strings.CutPrefix(name, "site_")
	return found && len(rest) >= 1 && len(rest) <= 60 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// PropertyType returns the type of a property of an event; for an Enum, it returns String.
// ok is false if the event has no such property.
func (s Schema) PropertyType(event Event, name string) (t Type, ok bool) {
	if event.Kind != ActivityEvent {
		if t, ok = messageProperties[Send][name]; !ok {
			t, ok = messageProperties[event.Kind][name]
		}
		return t, ok
	}
	if IsSiteActivity(event.Activity) {
		if t, ok = siteProperties[name]; ok {
			return t, true
		}
	}
	t, ok = s.Properties[ActivityProperty{event.Activity, name}]
	return castClass(t), ok
}

// castClass returns the type with which values of type t are compared: String for an Enum,
// else t.
func castClass(t Type) Type {
	if t == Enum {
		return String
	}
	return t
}

// PropertyNames returns the names of those properties of an event that predicates can test,
// sorted.
func (s Schema) PropertyNames(event Event) []string {
	names := map[string]bool{}
	add := func(properties map[string]Type) {
		for name := range properties {
			names[name] = true
		}
	}
	switch {
	case event.Kind != ActivityEvent:
		add(messageProperties[Send])
		add(messageProperties[event.Kind])
	case IsSiteActivity(event.Activity):
		add(siteProperties)
	}
	if event.Kind == ActivityEvent {
		for property := range s.Properties {
			if property.Activity == event.Activity {
				names[property.Property] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// field returns f with its type from the schema. If the name is unknown, it records a fault
// and leaves the type Unresolved.
func (c *checker) field(f Field) Field {
	switch f.Source {
	case Email:
		f.Type = String
	case Attribute:
		registered, ok := c.schema.Attributes[f.Name]
		if !ok {
			fault := Error{Message: "attribute " + quote(f.Name) + " is not registered"}
			known := append(slices.Sorted(maps.Keys(c.schema.Attributes)), "email")
			if meant := core.NearestWord(f.Name, known); meant != "" {
				fault.Suggestion = "attr." + meant
			} else {
				fault.Known = known
			}
			c.fail(f.Offset, fault)
		}
		f.Type = castClass(registered.Type)
	case Property:
		t, ok := c.schema.PropertyType(*c.event, f.Name)
		if !ok {
			c.unknownProperty(f)
		}
		f.Type = t
	}
	return f
}

func (c *checker) unknownProperty(f Field) {
	known := c.schema.PropertyNames(*c.event)
	fault := Error{Message: c.event.title() + " has no property " + quote(f.Name) + " to test"}
	if meant := core.NearestWord(f.Name, known); meant != "" {
		fault.Suggestion = Field{Source: Property, Name: meant}.title()
	}
	switch {
	case len(known) > 0:
		fault.Expected = "one of " + core.QuotedList(known)
	case c.event.Kind == ActivityEvent:
		fault.Expected = "a property that is registered for this activity; none is"
	}
	c.fail(f.Offset, fault)
}

// failUnknown records the fault that predicates cannot name this topic, list or segment:
// none with this name exists, or it is archived. known has the names that predicates can
// use.
func (c *checker) failUnknown(at Offset, kind SetKind, name string, known []string) {
	if c.schema.Archived[Archived{kind, name}] {
		c.fail(at, Error{Message: "the " + string(kind) + " " + quote(name) + " is archived; " + restoring[kind], Known: append([]string{}, known...)})
		return
	}
	fault := Error{Message: "there is no " + string(kind) + " " + quote(name)}
	if meant := core.NearestWord(name, known); meant != "" {
		fault.Suggestion = textLiteral(meant)
	} else {
		fault.Known = append([]string{}, known...)
	}
	c.fail(at, fault)
}

// restoring says what to do if a predicate names an archived set. A topic or list is archived
// only when it is removed from the repository that defined it.
var restoring = map[SetKind]string{
	TopicSet:   "define it in its repository again, or name another topic",
	ListSet:    "define it in its repository again, or name another list",
	SegmentSet: "restore it on its page in the dashboard, or name another segment",
}

func (c *checker) eventTest(n EventTest) Node {
	c.event = &n.Source.Event
	c.warnUnseen(n.Source)
	if n.Kind >= Sum && n.Kind <= Max {
		n.Field = c.field(n.Field)
		if n.Field.Type != Number && n.Field.Type != Unresolved {
			c.fail(n.Field.Offset, Error{Message: n.Field.title() + " is a " + n.Field.Type.String() + ", and " + n.Kind.String() + " needs a number"})
		}
	}
	if n.Source.Where != nil {
		n.Source.Where = c.node(n.Source.Where)
	}
	c.event = nil
	return &n
}

func (c *checker) consent(n Consent) Node {
	if n.Kind != Subscribed && n.Kind != OptedOut {
		return &n
	}
	in, ok := c.schema.Topics[n.Topic]
	if !ok {
		c.failUnknown(n.TopicAt, TopicSet, n.Topic, sortedKeys(c.schema.Topics))
	}
	n.DefaultIn = in
	return &n
}

func (c *checker) membership(n Membership) Node {
	known, kind := c.schema.Lists, ListSet
	if n.Segment {
		known, kind = c.schema.Segments, SegmentSet
	}
	id, ok := known[n.Key]
	if !ok {
		c.failUnknown(n.KeyAt, kind, n.Key, slices.Sorted(maps.Keys(known)))
	}
	n.ID = id
	return &n
}

// textLiteral returns s as a string literal of the predicate language, quoted and escaped.
func textLiteral(s string) string {
	var p printer
	p.text(s)
	return p.String()
}

// title returns the event as it is written in predicates, such as activity.purchase.
func (e Event) title() string {
	var p printer
	p.source(EventSource{Event: e})
	return p.String()
}
