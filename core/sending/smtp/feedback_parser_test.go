package smtp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/mail"
	"strings"

	message "github.com/emersion/go-message"
	"github.com/emersion/go-message/textproto"
	"github.com/mailhelm/mailhelm/core"
)

// Feedback is the content of a mail in which a mail server reports about a sent message:
// results of delivery or a complaint. Anyone can write such a mail, so no field is
// verified. Addresses are well-formed. Other texts have no control characters and at most
// 500 bytes.
type Feedback struct {
	// OriginalMessageID is the id that Send returned for the reported message; "" if the
	// mail does not contain it.
	OriginalMessageID string
	Deliveries        []DeliveryReport // the results in the mail's delivery report (RFC 3464)
	Complaint         *Complaint       // of a complaint (RFC 5965)
}

// Action is the kind of a delivery result for one recipient (RFC 3464 section 2.3.3).
type Action string

// The actions.
const (
	ActionFailed    Action = "failed"
	ActionDelayed   Action = "delayed"
	ActionDelivered Action = "delivered"
	ActionRelayed   Action = "relayed"
	ActionExpanded  Action = "expanded"
)

// DeliveryReport is the delivery result for one recipient.
type DeliveryReport struct {
	// Recipient is the address to which the message was sent, if the report has it, else the
	// address after forwarding.
	Recipient  string
	Action     Action
	Status     string // such as "5.1.1" (RFC 3463)
	Diagnostic string // the text of the receiving server, such as "smtp; 550 no such user"
}

// Complaint reports that recipients marked the message as unwanted.
type Complaint struct {
	Type       string   // the kind of complaint, such as "abuse", in lower case
	Recipients []string // often omitted in reports
}

// The limits of ParseFeedback for size, MIME parts and results of a mail. Reports contain
// the reported message, so they may be large.
const (
	maxFeedback        = 4 << 20
	maxFeedbackHeader  = 64 << 10
	maxParts           = 16
	maxDepth           = 4
	maxDeliveryReports = 100
	maxFeedbackText    = 500
)

// The errors of ParseFeedback.
var (
	ErrNotFeedback   = errors.New("smtp: the mail is neither a delivery report nor a complaint")
	ErrFeedbackLarge = errors.New("smtp: the mail is larger than any feedback")
)

// ParseFeedback reads the report in a received mail. It fails with ErrNotFeedback if the
// mail is not a report, and with ErrFeedbackLarge above 4 MiB.
func ParseFeedback(r io.Reader) (Feedback, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxFeedback+1))
	switch {
	case err != nil:
		return Feedback{}, err
	case len(raw) > maxFeedback:
		return Feedback{}, ErrFeedbackLarge
	}
	entity, err := message.ReadWithOptions(bytes.NewReader(raw), &message.ReadOptions{MaxHeaderBytes: maxFeedbackHeader})
	if err != nil {
		return Feedback{}, ErrNotFeedback
	}
	reader := feedbackReader{parts: maxParts}
	reader.read(entity, maxDepth)
	if reader.found.Complaint == nil && len(reader.found.Deliveries) == 0 {
		return Feedback{}, ErrNotFeedback
	}
	return reader.found, nil
}

type feedbackReader struct {
	found Feedback
	parts int // remaining parts to read
}

// read adds the reports in a MIME entity to r.found. It also reads the parts of the entity,
// up to depth levels deep, and skips parts that it cannot read.
func (r *feedbackReader) read(e *message.Entity, depth int) {
	if parts := e.MultipartReader(); parts != nil {
		for depth > 0 && r.parts > 0 {
			r.parts--
			part, err := parts.NextPart()
			if err != nil {
				return
			}
			r.read(part, depth-1)
		}
		return
	}
	kind, _, _ := e.Header.ContentType()
	switch strings.ToLower(kind) {
	case "message/delivery-status", "message/global-delivery-status":
		r.deliveries(e.Body)
	case "message/feedback-report":
		r.complaint(e.Body)
	case "message/rfc822", "message/global", "text/rfc822-headers", "message/global-headers":
		r.original(e.Body)
	}
}

// deliveries reads a delivery report: blocks of fields, separated by empty lines. The first
// block is about the message, each further block about one recipient.
func (r *feedbackReader) deliveries(body io.Reader) {
	in := bufio.NewReader(body)
	for blocks := 0; blocks <= maxDeliveryReports && len(r.found.Deliveries) < maxDeliveryReports; blocks++ {
		block, err := textproto.ReadHeader(in)
		if report, ok := deliveryOf(block); ok {
			r.found.Deliveries = append(r.found.Deliveries, report)
		}
		if err != nil {
			return
		}
		if _, err := in.Peek(1); err != nil {
			return
		}
	}
}

func deliveryOf(block textproto.Header) (DeliveryReport, bool) {
	report := DeliveryReport{
		Recipient:  typedAddress(block.Get("Original-Recipient")),
		Action:     Action(strings.ToLower(firstWord(block.Get("Action")))),
		Status:     statusOf(block.Get("Status")),
		Diagnostic: readable(block.Get("Diagnostic-Code")),
	}
	if report.Recipient == "" {
		report.Recipient = typedAddress(block.Get("Final-Recipient"))
	}
	switch report.Action {
	case ActionFailed, ActionDelayed, ActionDelivered, ActionRelayed, ActionExpanded:
		return report, report.Recipient != ""
	}
	return DeliveryReport{}, false
}

func (r *feedbackReader) complaint(body io.Reader) {
	block, _ := textproto.ReadHeader(bufio.NewReader(body)) // fields before an error count
	kind := readable(strings.ToLower(firstWord(block.Get("Feedback-Type"))))
	if kind == "" {
		return
	}
	c := &Complaint{Type: kind}
	for _, value := range block.Values("Original-Rcpt-To") {
		if address := plainAddress(value); address != "" && len(c.Recipients) < maxDeliveryReports {
			c.Recipients = append(c.Recipients, address)
		}
	}
	r.found.Complaint = c
}

func (r *feedbackReader) original(body io.Reader) {
	block, _ := textproto.ReadHeader(bufio.NewReader(io.LimitReader(body, maxFeedbackHeader)))
	id := strings.TrimSpace(block.Get("Message-Id"))
	id = strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">")
	if len(id) <= maxFeedbackText && id == readable(id) && !strings.ContainsAny(id, " <>") {
		r.found.OriginalMessageID = id
	}
}

// typedAddress parses "rfc822; person@example.com".
func typedAddress(value string) string {
	_, address, found := strings.Cut(value, ";")
	if !found {
		return ""
	}
	return plainAddress(address)
}

func plainAddress(value string) string {
	value = strings.TrimSpace(value)
	if a, err := mail.ParseAddress(value); err == nil && core.IsEmail(a.Address) {
		return a.Address
	}
	return ""
}

func firstWord(value string) string {
	words := strings.Fields(value)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// statusOf returns the enhanced status code at the start of value, such as "5.1.1" (RFC
// 3463), or "" if there is none.
func statusOf(value string) string {
	status := firstWord(value)
	parts := strings.Split(status, ".")
	if len(parts) != 3 || len(parts[0]) != 1 {
		return ""
	}
	for _, part := range parts {
		if part == "" || len(part) > 3 || strings.Trim(part, "0123456789") != "" {
			return ""
		}
	}
	return status
}

// readable returns value with encoded words decoded (RFC 2047), without control characters,
// and cut to 500 bytes.
func readable(value string) string {
	if decoded, err := new(mime.WordDecoder).DecodeHeader(value); err == nil {
		value = decoded
	}
	value = strings.Map(func(r rune) rune {
		if hasControl(string(r)) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(value, "\uFFFD"))
	if len(value) > maxFeedbackText {
		value = strings.ToValidUTF8(value[:maxFeedbackText], "")
	}
	return strings.TrimSpace(value)
}
