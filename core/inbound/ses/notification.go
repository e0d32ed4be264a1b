package ses

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// notification is a notification of a received message. Its form is in the developer guide of
// Amazon SES under "Contents of notifications for Amazon SES email receiving".
type notification struct {
	Type    string `json:"notificationType"`
	Receipt struct {
		Timestamp  string   `json:"timestamp"`
		Recipients []string `json:"recipients"`
		Spam       verdict  `json:"spamVerdict"`
		Virus      verdict  `json:"virusVerdict"`
		SPF        verdict  `json:"spfVerdict"`
		DKIM       verdict  `json:"dkimVerdict"`
		DMARC      verdict  `json:"dmarcVerdict"`
		Action     struct {
			Type      string `json:"type"`
			Bucket    string `json:"bucketName"`
			ObjectKey string `json:"objectKey"`
			Encoding  string `json:"encoding"`
		} `json:"action"`
	} `json:"receipt"`
	Mail struct {
		MessageID string `json:"messageId"`
		Source    string `json:"source"`
	} `json:"mail"`
	Content string `json:"content"`
}

// verdict is a verdict of SES.
type verdict struct {
	Status string `json:"status"`
}

// value returns the verdict. SES documents the words of package inbound. A missing or unknown
// one says nothing, so the check counts as not made.
func (v verdict) value() inbound.Verdict {
	switch known := inbound.Verdict(v.Status); known {
	case inbound.Pass, inbound.Fail, inbound.Gray, inbound.Disabled:
		return known
	}
	return inbound.ProcessingFailed
}

// received is the value of notificationType for received mail.
const received = "Received"

// IsReceived reports whether an SNS message is a notification of received mail. Those of sent
// mail have other types.
func IsReceived(message []byte) bool {
	var n struct {
		Type string `json:"notificationType"`
	}
	return json.Unmarshal(message, &n) == nil && n.Type == received
}

const (
	maxRecipients = 500
	maxAddress    = 320 // bytes
)

// messageIDs is the form of the ids of messages. Those of received mail have letters and digits.
// The id is the end of the key of the object, so this form cannot be the end of a key of mail
// that Mailhelm stored.
var messageIDs = regexp.MustCompile(`^[A-Za-z0-9_-]{16,200}$`)

// read returns the notification in an SNS message. It fails with core.CodeValidationFailed.
func read(message []byte) (notification, error) {
	var n notification
	if err := json.Unmarshal(message, &n); err != nil || n.Type != received {
		return n, core.Invalid("", "is not a notification of received mail by Amazon SES")
	}
	if !messageIDs.MatchString(n.Mail.MessageID) {
		return n, core.Invalid("mail.messageId", "must be the id of a received message: 16 to 200 letters, digits, hyphens and underscores")
	}
	if len(n.Receipt.Recipients) > maxRecipients {
		return n, core.Invalid("receipt.recipients", "must have at most 500 addresses")
	}
	if slices.ContainsFunc(n.Receipt.Recipients, isMalformed) {
		return n, core.Invalid("receipt.recipients", "must have addresses of at most 320 bytes without control characters")
	}
	if isMalformed(n.Mail.Source) {
		return n, core.Invalid("mail.source", "must be an address of at most 320 bytes without control characters")
	}
	return n, nil
}

// isMalformed reports whether SES would not have accepted an address.
func isMalformed(address string) bool {
	return len(address) > maxAddress || strings.ContainsFunc(address, unicode.IsControl)
}

// receivedAt returns the time at which SES received the message, or now if it is missing, cannot be
// read or is in the future.
func (n notification) receivedAt(now time.Time) time.Time {
	at, err := time.Parse(time.RFC3339, n.Receipt.Timestamp)
	if err != nil || at.After(now) {
		return now
	}
	return at.UTC()
}

func (n notification) verdicts() *inbound.Verdicts {
	r := n.Receipt
	return &inbound.Verdicts{SPF: r.SPF.value(), DKIM: r.DKIM.value(), DMARC: r.DMARC.value(), Spam: r.Spam.value(), Virus: r.Virus.value()}
}

// object returns the bucket and the key of the message. It fails with core.CodeValidationFailed
// for a notification of an action that stores no message, and for a key that SES would not have
// chosen: SES appends the id of the message to the prefix of the receipt rule.
func (n notification) object() (string, string, error) {
	a := n.Receipt.Action
	if a.Bucket == "" || a.ObjectKey == "" {
		return "", "", core.Invalid("receipt.action", "must name the bucket and the object with the message: publish the notification by an S3 action of the receipt rule")
	}
	if !strings.HasSuffix(a.ObjectKey, n.Mail.MessageID) {
		return "", "", core.Invalid("receipt.action.objectKey", "must end with the id of the message")
	}
	return a.Bucket, a.ObjectKey, nil
}

// inline returns the message in the notification, which an SNS action of SES puts there.
func (n notification) inline() ([]byte, error) {
	if n.Receipt.Action.Encoding != "BASE64" {
		return []byte(n.Content), nil
	}
	content, err := base64.StdEncoding.DecodeString(n.Content)
	if err != nil {
		return nil, core.Invalid("content", "must be base64, as receipt.action.encoding says")
	}
	return content, nil
}
