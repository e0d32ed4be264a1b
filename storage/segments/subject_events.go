package segments

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// subjectActivities selects activities of contacts. $1 has the ids of the contacts and $4
	// the names of the activities. The names are not part of the condition of perRow, so that
	// both engines use the index by contact.
	subjectActivities = engine.Register("activities of subjects", selectPerRow(`e.contact_id, e.name, e.occurred_at, e.properties`,
		eachOf(`$1`, `j`), `activities AS e`, `e.org_id = $2 AND e.contact_id = CAST(j.atom AS bytetext) AND e.occurred_at >= $3`)+`
		AND e.name IN (SELECT k.atom FROM `+eachOf(`$4`, `k`)+`)`)
	// subjectMessageEvents selects message events of contacts, without those of test messages.
	// $1 has the address keys of the contacts and $2 the types of the events.
	subjectMessageEvents = engine.Register("message events of subjects", selectPerRow(
		`e.recipient_key, e.type, e.occurred_at, e.identity, e.template, e.bounce_type, e.bounce_sub_type,
		CASE WHEN e.type IN ('Click', 'Delivery') THEN e.metadata END AS metadata,
		(SELECT m.subject FROM messages AS m WHERE m.org_id = e.org_id AND m.id = e.message_id) AS subject`,
		eachOf(`$1`, `j`)+` CROSS JOIN `+eachOf(`$2`, `k`), `message_events AS e`,
		`e.org_id = $3 AND e.type = CAST(k.atom AS bytetext) AND e.recipient_key = CAST(j.atom AS bytetext) AND e.occurred_at >= $4 AND NOT e.test`))
)

// loadActivities reads the activities that the references name.
func (l *loader) loadActivities(ctx context.Context) error {
	fields := map[string][]predicate.Field{}
	var names []string
	for _, event := range l.query.Refs.Events {
		if event.Kind == predicate.ActivityEvent {
			names, fields[event.Activity] = append(names, event.Activity), l.properties(event)
		}
	}
	if len(names) == 0 {
		return nil
	}
	named, err := engine.JSONParameter(names)
	if err != nil {
		return err
	}
	type activityRow struct {
		Contact    string `db:"contact_id"`
		Name       string `db:"name"`
		OccurredAt int64  `db:"occurred_at"`
		Properties string `db:"properties"`
	}
	rows, err := engine.List[activityRow](ctx, l.db, subjectActivities, l.ids, l.query.OrgID, engine.At(l.query.Since), named)
	if err != nil {
		return err
	}
	for _, row := range rows {
		o := predicate.Occurrence{
			Event: predicate.Event{Kind: predicate.ActivityEvent, Activity: row.Name}, At: row.OccurredAt, Properties: map[string]predicate.Value{},
		}
		if err := addJSONValues(o.Properties, row.Properties, fields[row.Name]); err != nil {
			return fmt.Errorf("storage: properties of an activity %q of contact %s: %w", row.Name, row.Contact, err)
		}
		subject := l.subjects[row.Contact]
		subject.Events = append(subject.Events, o)
	}
	return nil
}

// properties returns the properties of an activity to read, with their types: the built-in
// ones and those in the references.
func (l *loader) properties(activity predicate.Event) []predicate.Field {
	names := predicate.Schema{}.PropertyNames(activity)
	for _, p := range l.query.Refs.Properties {
		if p.Activity == activity.Activity {
			names = append(names, p.Property)
		}
	}
	var fields []predicate.Field
	for _, name := range names {
		if of, ok := l.query.Schema.PropertyType(activity, name); ok {
			fields = append(fields, predicate.Field{Source: predicate.Property, Name: name, Type: of})
		}
	}
	return fields
}

// kindOf maps the stored types of message events to the event kinds of predicates.
var kindOf = func() map[messages.EventType]predicate.EventKind {
	kinds := map[messages.EventType]predicate.EventKind{}
	for kind, stored := range messageTypes {
		kinds[stored] = kind
	}
	return kinds
}()

// messageEventRow is a result row of subjectMessageEvents.
type messageEventRow struct {
	Recipient     string             `db:"recipient_key"`
	Type          messages.EventType `db:"type"`
	OccurredAt    int64              `db:"occurred_at"`
	Identity      string             `db:"identity"`
	Template      string             `db:"template"`
	BounceType    *string            `db:"bounce_type"`
	BounceSubType *string            `db:"bounce_sub_type"`
	Metadata      *string            `db:"metadata"`
	Subject       *string            `db:"subject"`
}

// loadMessageEvents reads the message events of the kinds that the references name.
func (l *loader) loadMessageEvents(ctx context.Context) error {
	var types, addresses []string
	for _, event := range l.query.Refs.Events {
		if event.Kind != predicate.ActivityEvent {
			types = append(types, string(messageTypes[event.Kind]))
		}
	}
	if len(types) == 0 {
		return nil
	}
	for key := range l.byAddress {
		addresses = append(addresses, key)
	}
	of, err := engine.JSONParameter(addresses)
	if err != nil {
		return err
	}
	named, err := engine.JSONParameter(types)
	if err != nil {
		return err
	}
	rows, err := engine.List[messageEventRow](ctx, l.db, subjectMessageEvents, of, named, l.query.OrgID, engine.At(l.query.Since))
	if err != nil {
		return err
	}
	for _, row := range rows {
		o, err := row.occurrence()
		if err != nil {
			return fmt.Errorf("storage: metadata of an event of type %s: %w", row.Type, err)
		}
		subject := l.byAddress[row.Recipient]
		subject.Events = append(subject.Events, o)
	}
	return nil
}

// The properties of message events that are stored in the JSON of their metadata, by the
// names of the JSON members.
var (
	clickMetadata    = predicate.Field{Source: predicate.Property, Name: "click_url", Type: predicate.String}
	deliveryMetadata = predicate.Field{Source: predicate.Property, Name: "processing_time_ms", Type: predicate.Number}
)

// occurrence converts the row. Its properties are the same as in condition.property.
func (r messageEventRow) occurrence() (predicate.Occurrence, error) {
	kind := kindOf[r.Type]
	o := predicate.Occurrence{Event: predicate.Event{Kind: kind}, At: r.OccurredAt, Properties: map[string]predicate.Value{}}
	set := func(name string, text *string, emptyIsAbsent bool) {
		if text != nil && !(emptyIsAbsent && *text == "") {
			o.Properties[name] = predicate.StringValue(*text)
		}
	}
	set("subject", r.Subject, true)
	set("template", &r.Template, true)
	set("sender_domain", &r.Identity, true)
	switch {
	case kind == predicate.Bounce:
		set("type", r.BounceType, false)
		set("sub_type", r.BounceSubType, false)
	case r.Metadata == nil:
	case kind == predicate.Click:
		return o, setFromJSON(o.Properties, "url", *r.Metadata, clickMetadata)
	case kind == predicate.Delivery:
		return o, setFromJSON(o.Properties, "processing_ms", *r.Metadata, deliveryMetadata)
	}
	return o, nil
}

// setFromJSON sets the property name to the field f of a JSON object, if the object has it.
func setFromJSON(properties map[string]predicate.Value, name, object string, f predicate.Field) error {
	found := map[string]predicate.Value{}
	if err := addJSONValues(found, object, []predicate.Field{f}); err != nil {
		return err
	}
	if v, ok := found[f.Name]; ok {
		properties[name] = v
	}
	return nil
}
