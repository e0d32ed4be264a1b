package activities

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// The values of dedup_mode, which decides when an item is a duplicate of an earlier
// activity.
const (
	// Retry, the default mode, treats an item as a duplicate if its idempotency key was used
	// within KeyWindow. If the stored keys cannot be read, the item is accepted, because a
	// duplicate is better than a lost activity.
	Retry = "retry"
	// Once accepts one activity of a name per contact, without a time limit, and ignores
	// idempotency keys. If the earlier activities cannot be looked up, the item is refused,
	// because a lost activity is better than a duplicate.
	Once = "once"
)

// KeyWindow is how long an idempotency key of an activity is stored.
const KeyWindow = 24 * time.Hour

// The limits of an item.
const (
	maxName       = 200 // in characters, like maxExternalID and maxKey
	maxExternalID = 255
	maxKey        = 256
	maxProperties = 32 << 10 // in bytes, of the JSON text as it was sent
)

// Reason is the reason for which an item is refused.
type Reason string

// The reasons for which an item is refused.
const (
	InvalidName           Reason = "invalid_name"
	InvalidEmail          Reason = "invalid_email"
	InvalidExternalID     Reason = "invalid_external_id"
	InvalidIdempotencyKey Reason = "invalid_idempotency_key"
	InvalidDedupMode      Reason = "invalid_dedup_mode"
	MissingIdentity       Reason = "missing_identity"
	UnknownExternalID     Reason = "unknown_external_id"
	ExternalIDConflict    Reason = "external_id_conflict"
	PropertiesTooLarge    Reason = "properties_too_large"
	RateLimited           Reason = "rate_limited"
	DedupUnavailable      Reason = "dedup_unavailable"
	// InvalidItem means that the item is malformed: no object, an unknown member, or a value
	// of the wrong type. ItemResult.Detail describes the fault.
	InvalidItem Reason = "invalid_item"
)

// ItemResult is the result of one item of a request to record activities.
type ItemResult struct {
	Index      int    `json:"index" jsonschema_description:"Place of the item in the request, from 0."`
	Status     string `json:"status" jsonschema:"enum=accepted,enum=rejected"`
	ActivityID string `json:"activity_id,omitempty" jsonschema:"format=uuid"`
	ContactID  string `json:"contact_id,omitempty" jsonschema:"format=uuid"`
	Reason     Reason `json:"reason,omitempty" jsonschema:"enum=invalid_name,enum=invalid_email,enum=invalid_external_id,enum=invalid_idempotency_key,enum=invalid_dedup_mode,enum=missing_identity,enum=unknown_external_id,enum=external_id_conflict,enum=properties_too_large,enum=rate_limited,enum=dedup_unavailable,enum=invalid_item"`
	Detail     string `json:"detail,omitempty" voice:"ours" jsonschema_description:"Each invalid member with the reason, on invalid_item."`
	Duplicate  bool   `json:"duplicate,omitempty" jsonschema_description:"Whether the item was accepted before. The ids are then those of the earlier item."`
}

const (
	accepted = "accepted"
	rejected = "rejected"
)

// sent is an item of a request while it is processed. reason is "" unless the item is
// refused.
type sent struct {
	index      int
	name       string
	email      string // email, emailKey and externalID are "" if the caller did not send them.
	emailKey   string
	externalID string
	key        string // idempotency key; "" if none was sent, and in mode Once
	once       bool
	properties json.RawMessage
	occurredAt time.Time

	reason     Reason
	detail     string
	receivedAt time.Time // set before the item is stored
	// activityID and contactID are set when the item is accepted.
	activityID, contactID string
	duplicate             bool
}

func (s *sent) result() ItemResult {
	if s.reason != "" {
		return ItemResult{Index: s.index, Status: rejected, Reason: s.reason, Detail: s.detail}
	}
	return ItemResult{
		Index: s.index, Status: accepted, ActivityID: s.activityID, ContactID: s.contactID, Duplicate: s.duplicate,
	}
}

// refuse marks the item as refused with InvalidItem, and takes the detail from err.
func (s *sent) refuse(err error) {
	s.reason, s.detail = InvalidItem, "The item is not valid."
	if faults := core.AsError(err).Fields; len(faults) > 0 {
		s.detail = core.InvalidFields(faults[0]).Message
		if faults[0].Field == "" {
			s.detail = "The item " + faults[0].Reason + "."
		}
	}
}

// clockSkew is how far a caller's clock may be ahead. A time that is at most clockSkew
// after the receipt is stored as the time of receipt. So no stored activity is in the
// future; see [Purger].
const clockSkew = 5 * time.Minute

// read checks an item that was received at the time in the parameter now, and returns the
// item with its values normalized. The function emailKey returns the form of an address by
// which the store finds contacts.
func (i item) read(index int, now time.Time, emailKey func(string) string) sent {
	s := sent{index: index, name: i.Name, properties: i.Properties, occurredAt: now, reason: i.fault()}
	if s.reason != "" {
		return s
	}
	if i.OccurredAt != nil && i.OccurredAt.After(now.Add(clockSkew)) {
		s.refuse(core.Invalid("occurred_at", "is "+i.OccurredAt.UTC().Format(time.RFC3339)+
			", more than 5 minutes after "+now.UTC().Format(time.RFC3339)+", when it was received; send the time at which it happened"))
		return s
	}
	if i.OccurredAt != nil && i.OccurredAt.Before(now) {
		s.occurredAt = i.OccurredAt.UTC()
	}
	if i.Email != nil {
		email, _ := core.CanonicalEmail(*i.Email) // never fails: i.fault() has refused invalid addresses
		s.email, s.emailKey = email, emailKey(email)
	}
	if i.ExternalID != nil {
		s.externalID = *i.ExternalID
	}
	s.once = i.mode() == Once
	if i.IdempotencyKey != nil && !s.once {
		s.key = *i.IdempotencyKey
	}
	if len(s.properties) == 0 {
		s.properties = noProperties
	}
	return s
}

func (i item) mode() string {
	if i.DedupMode == nil {
		return Retry
	}
	return *i.DedupMode
}

// fault returns the reason of the first fault of the item, or "" if the item is valid.
func (i item) fault() Reason {
	mode := i.mode()
	switch {
	case !isText(i.Name, maxName) || strings.TrimSpace(i.Name) == "":
		return InvalidName
	case i.Email != nil && !isEmail(*i.Email):
		return InvalidEmail
	case i.ExternalID != nil && !isText(*i.ExternalID, maxExternalID):
		return InvalidExternalID
	case mode != Retry && mode != Once:
		return InvalidDedupMode
	case mode == Retry && i.IdempotencyKey != nil && !isText(*i.IdempotencyKey, maxKey):
		return InvalidIdempotencyKey
	case i.Email == nil && i.ExternalID == nil:
		return MissingIdentity
	case len(i.Properties) > maxProperties:
		return PropertiesTooLarge
	}
	return ""
}

func isEmail(s string) bool {
	_, ok := core.CanonicalEmail(s)
	return ok
}

func isText(s string, longest int) bool {
	return s != "" && utf8.RuneCountInString(s) <= longest
}
