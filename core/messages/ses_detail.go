package messages

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/mailhelm/mailhelm/core"
)

// The limits for the metadata of an event: maxMetadata, maxMetadataText and maxMetadataName
// in bytes, maxMetadataDepth in levels of nesting.
const (
	maxMetadata      = 8 << 10
	maxMetadataText  = 2 << 10
	maxMetadataName  = 64
	maxMetadataDepth = 6
)

// sesKind describes how to read one type of SES event. member is the name of the event's
// JSON member that has the details. recipients is the name of the detail that lists the
// recipients. names maps SES's names of details to Mailhelm's names; other details keep
// SES's names.
type sesKind struct {
	event      EventType
	member     string
	recipients string
	names      map[string]string
}

var whoLooked = map[string]string{"ipAddress": "ip_address", "userAgent": "user_agent"}

// sesKinds are the types of SES events by the name that SES gives them.
var sesKinds = map[string]sesKind{
	"Send": {event: Send, member: "send", recipients: ofDestination},
	"Delivery": {event: Delivery, member: "delivery", recipients: "recipients", names: map[string]string{
		"smtpResponse": "smtp_response", "processingTimeMillis": "processing_time_ms",
	}},
	"Bounce": {event: Bounce, member: "bounce", recipients: "bouncedRecipients", names: map[string]string{
		"bounceType": "bounce_type", "bounceSubType": "bounce_sub_type", "diagnosticCode": "smtp_response",
	}},
	"Complaint": {event: Complaint, member: "complaint", recipients: "complainedRecipients", names: map[string]string{
		"complaintFeedbackType": "complaint_feedback_type",
	}},
	"Reject": {event: Reject, member: "reject", names: map[string]string{"reason": "reject_reason"}},
	"Open":   {event: Open, member: "open", names: whoLooked},
	"Click": {event: Click, member: "click", names: map[string]string{
		"ipAddress": "ip_address", "userAgent": "user_agent", "link": "click_url",
	}},
	"DeliveryDelay": {event: DeliveryDelay, member: "deliveryDelay", recipients: "delayedRecipients", names: map[string]string{
		"delayType": "delay_type", "diagnosticCode": "smtp_response",
	}},
	"Rendering Failure": {event: RenderingFailure, member: "failure"},
	"Subscription":      {event: Subscription, member: "subscription"},
}

// ofDestination is the value of sesKind.recipients for events that do not list recipients.
// The events are then about all recipients of the mail.
const ofDestination = "destination"

// events returns one event for each recipient of the SES event. If no recipient is known,
// it returns one event without a recipient.
func (k sesKind) events(members map[string]json.RawMessage, mail mailOf, now time.Time) ([]Event, error) {
	details, err := k.read(members[k.member])
	if err != nil {
		return nil, err
	}
	beside := k.unknownMembers(members)
	at := mail.SentAt
	if stamp, ok := details["timestamp"].(string); ok {
		if at, err = sesTime(k.member+".timestamp", stamp, now); err != nil {
			return nil, err
		}
	}
	recipients, err := k.recipientsOf(details, mail)
	if err != nil {
		return nil, err
	}
	if k.event == RenderingFailure && mail.Template == "" {
		mail.Template = text(details, "templateName", maxName)
	}
	delete(details, "timestamp")
	events := make([]Event, len(recipients))
	for i, r := range recipients {
		all := maps.Clone(details)
		maps.Copy(all, r.details)
		events[i] = Event{
			MessageID: mail.messageID, Type: k.event, OccurredAt: at, Recipient: r.address, Mail: mail.Mail,
			Metadata: k.metadata(all, beside), Bounced: k.bounceKind(all),
		}
		if k.event == Complaint {
			events[i].ComplaintSubType = text(details, "complaintSubType", maxName)
		}
		events[i].ID = identify(events[i], all)
	}
	return events, nil
}

// read returns the details of an SES event, decoded from JSON. It returns an empty map if
// the event has no details.
func (k sesKind) read(raw json.RawMessage) (map[string]any, error) {
	if raw == nil {
		return map[string]any{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var details map[string]any
	if err := decoder.Decode(&details); err != nil {
		return nil, core.Invalid(k.member, "is not a JSON object")
	}
	if details == nil {
		details = map[string]any{}
	}
	return details, nil
}

// unknownMembers returns the top-level members of an SES event other than its type, its
// mail and the details of its type. They are stored in the metadata without interpretation.
func (k sesKind) unknownMembers(members map[string]json.RawMessage) map[string]any {
	unknown := map[string]any{}
	for name, raw := range members {
		switch name {
		case "eventType", "notificationType", "mail", k.member:
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		var value any
		if decoder.Decode(&value) == nil { // cannot fail: raw was parsed as part of the event
			unknown[name] = value
		}
	}
	return unknown
}

// recipient is one recipient of an SES event, with the details that are about that
// recipient alone.
type recipient struct {
	address string
	details map[string]any
}

// recipientsOf removes the list of recipients from the details and returns it without
// duplicates. If the list is empty and the event is a Send, it returns all recipients of
// the mail. If the list is empty and the mail has only one recipient, it returns this one.
// In all other cases it returns one recipient without an address.
func (k sesKind) recipientsOf(details map[string]any, mail mailOf) ([]recipient, error) {
	listed, _ := details[k.recipients].([]any)
	delete(details, k.recipients)
	if len(listed) > maxRecipients {
		return nil, core.Invalid(k.member+"."+k.recipients, "names more than 500 recipients")
	}
	var all []recipient
	for _, one := range listed {
		r := recipientOf(one)
		if len(r.address) > maxAddress {
			return nil, core.Invalid(k.member+"."+k.recipients, "has an address of more than 320 bytes")
		}
		known := slices.ContainsFunc(all, func(other recipient) bool { return other.address == r.address })
		if r.address != "" && !known {
			all = append(all, r)
		}
	}
	if len(all) == 0 && (k.recipients == ofDestination || len(mail.To) == 1) {
		for _, to := range slices.Compact(slices.Sorted(slices.Values(mail.To))) {
			all = append(all, recipient{address: to})
		}
	}
	if len(all) == 0 {
		all = []recipient{{}}
	}
	return all, nil
}

// recipientOf reads a recipient from a JSON text (the address) or from an object with the
// address and details.
func recipientOf(listed any) recipient {
	switch listed := listed.(type) {
	case string:
		return recipient{address: address(listed)}
	case map[string]any:
		r := recipient{address: address(text(listed, "emailAddress", maxSubject)), details: listed}
		delete(listed, "emailAddress")
		return r
	}
	return recipient{}
}

// bounceKind returns the type and sub type of a bounce, nil for other events. It replaces
// an unknown type by Undetermined.
func (k sesKind) bounceKind(details map[string]any) *BounceKind {
	if k.event != Bounce {
		return nil
	}
	b := BounceKind{Type: text(details, "bounceType", maxName), SubType: text(details, "bounceSubType", maxName)}
	if b.Type != PermanentBounce && b.Type != TransientBounce {
		b.Type = UndeterminedBounce
	}
	return &b
}

// metadata returns one JSON object with the details of the event and the event's other
// top-level members, which are in the parameter beside. It adds details with a Mailhelm
// name first. Members that would exceed maxMetadata are left out. It returns nil if no
// member remains.
func (k sesKind) metadata(details, beside map[string]any) json.RawMessage {
	kept, size := make(map[string]json.RawMessage), 0
	keep := func(name string, value any) {
		encoded, err := json.Marshal(cleanValue(value, maxMetadataDepth))
		if err == nil && value != nil && size+len(name)+len(encoded) <= maxMetadata {
			kept[name] = encoded
			size += len(name) + len(encoded)
		}
	}
	for _, theirs := range slices.Sorted(maps.Keys(k.names)) {
		keep(k.names[theirs], details[theirs])
	}
	for _, unnamed := range []map[string]any{details, beside} {
		for _, theirs := range slices.Sorted(maps.Keys(unnamed)) {
			name := cleanText(theirs, maxMetadataName)
			if _, taken := kept[name]; k.names[theirs] == "" && !taken && name != "" {
				keep(name, unnamed[theirs])
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	all, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return all
}

// cleanValue returns a JSON value with its names and texts cleaned by cleanText, without
// parts that are nested more than depth levels deep.
func cleanValue(value any, depth int) any {
	switch value := value.(type) {
	case string:
		return cleanText(value, maxMetadataText)
	case json.Number:
		if _, err := value.Float64(); err != nil || len(value) > maxMetadataName {
			return cleanText(value.String(), maxMetadataName)
		}
	case []any:
		if depth == 0 {
			return nil
		}
		clean := make([]any, len(value))
		for i, element := range value {
			clean[i] = cleanValue(element, depth-1)
		}
		return clean
	case map[string]any:
		if depth == 0 {
			return nil
		}
		clean := make(map[string]any, len(value))
		for _, name := range slices.Sorted(maps.Keys(value)) {
			clean[cleanText(name, maxMetadataName)] = cleanValue(value[name], depth-1)
		}
		return clean
	}
	return value
}

func text(details map[string]any, name string, limit int) string {
	value, _ := details[name].(string)
	return cleanText(value, limit)
}

// identify returns the id of an event: a digest of those values that distinguish it from
// other events of the message. Details that SES may add or leave out are not part of the
// digest.
func identify(e Event, details map[string]any) string {
	parts := []string{
		e.MessageID, string(e.Type), e.OccurredAt.Format(time.RFC3339Nano), e.Recipient,
		text(details, "feedbackId", MaxSESEvent), text(details, "link", MaxSESEvent),
		text(details, "userAgent", MaxSESEvent), text(details, "ipAddress", MaxSESEvent),
	}
	// No part contains a NUL, so two different lists of parts never give the same joined
	// text.
	return uuid.NewHash(sha256.New(), uuid.Nil, []byte(strings.Join(parts, "\x00")), 8).String()
}
