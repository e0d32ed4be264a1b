package sending

import (
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// The formats of names at the provider. The names become parts of URLs and of signed
// requests, so nothing else is accepted. Their lengths are checked separately, because
// patterns with large repeat counts take a megabyte of memory.
var (
	accountIDs   = regexp.MustCompile(`^[0-9]{12}$`)
	regions      = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-[0-9]{1,2}$`)
	accessKeyIDs = regexp.MustCompile(`^[A-Za-z0-9]+$`)
	roleARNs     = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/[\w+=,.@/-]+$`)
	topicARNs    = regexp.MustCompile(`^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]+(\.fifo)?$`)
	serverNames  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

const (
	maxSecret      = 1024
	minAccessKeyID = 16
	maxAccessKeyID = 128
	maxRoleName    = 576 // with its path
	maxTopicName   = 256
	maxServerName  = 253
)

// IsRegion reports whether text has the format of an AWS region, such as eu-central-1.
func IsRegion(text string) bool { return regions.MatchString(text) }

// IsRoleARN reports whether text has the format of an AWS role ARN, such as
// arn:aws:iam::111122223333:role/name.
func IsRoleARN(text string) bool {
	_, name, _ := strings.Cut(text, ":role/")
	return len(name) <= maxRoleName && roleARNs.MatchString(text)
}

func isTopicARN(text string) bool {
	name := strings.TrimSuffix(text[strings.LastIndexByte(text, ':')+1:], ".fifo")
	return len(name) <= maxTopicName && topicARNs.MatchString(text)
}

func isAccessKeyID(text string) bool {
	return len(text) >= minAccessKeyID && len(text) <= maxAccessKeyID && accessKeyIDs.MatchString(text)
}

// check validates the input without comparing it with the stored connection. It fails with
// core.CodeValidationFailed.
func (n NewConnection) check() error {
	if n.AccountID != "" && !accountIDs.MatchString(n.AccountID) {
		return core.Invalid("account_id", "must be twelve digits, such as 111122223333")
	}
	if len(n.Secret) > maxSecret || !utf8.ValidString(n.Secret) || strings.ContainsAny(n.Secret, "\x00\r\n") {
		return core.Invalid("secret", "must be one line of at most 1024 bytes of UTF-8")
	}
	switch n.Provider {
	case SES:
		return n.checkSES()
	case SMTP:
		return n.checkSMTP()
	case Simulated:
		if n.describesServer() || n.Region+n.Endpoint+n.AccessKeyID+n.Secret+n.RoleARN+n.TopicARN+n.AccountID != "" {
			return core.Invalid("provider", "is simulator, which takes no other settings; leave them out")
		}
		return nil
	}
	return core.Invalid("provider", "is not supported; use ses, smtp or simulator")
}

func (n NewConnection) checkSES() error {
	switch {
	case n.describesServer():
		return core.Invalid("provider", "is ses, which reports its own identities and limits; leave them out")
	case !IsRegion(n.Region):
		return core.Invalid("region", "must be an AWS region, such as eu-central-1")
	case n.AccessKeyID == "" && n.RoleARN == "":
		return core.Invalid("access_key_id", "is missing; give an access key, or a role to assume")
	case n.AccessKeyID == "" && n.Secret != "":
		return core.Invalid("access_key_id", "is missing; a secret needs an access key id")
	case n.AccessKeyID != "" && !isAccessKeyID(n.AccessKeyID):
		return core.Invalid("access_key_id", "must be 16 to 128 letters and digits")
	case n.RoleARN != "" && !IsRoleARN(n.RoleARN):
		return core.Invalid("role_arn", "must be an ARN such as arn:aws:iam::111122223333:role/name")
	case n.TopicARN != "" && !isTopicARN(n.TopicARN):
		return core.Invalid("topic_arn", "must be an ARN such as arn:aws:sns:eu-central-1:111122223333:name")
	case n.Endpoint != "" && !isEndpoint(n.Endpoint):
		return core.Invalid("endpoint", "must be an https URL without path, query and user")
	}
	return nil
}

// isEndpoint reports whether raw is an https URL without path, query and user. A URL of
// this machine may also be http. Other hosts need https, because calls carry credentials.
func isEndpoint(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return false
	}
	if u.Scheme == "https" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback())
}

func (n NewConnection) checkSMTP() error {
	host, port, found := strings.Cut(n.Endpoint, ":")
	number, err := strconv.Atoi(port)
	switch {
	case !found || len(host) > maxServerName || !serverNames.MatchString(host) || err != nil || number < 1 || number > 65535:
		return core.Invalid("endpoint", "must be host:port, such as smtp.example.com:587")
	case n.Region != "" || n.RoleARN != "" || n.TopicARN != "" || n.AccountID != "":
		return core.Invalid("provider", "is smtp, which takes no region, role, topic or account id; leave them out")
	case n.AccessKeyID == "" && n.Secret != "":
		return core.Invalid("access_key_id", "is missing; a password needs a user name")
	case n.Max24HourSend < 0 || n.Max24HourSend > maxLimit:
		return core.Invalid("max_24_hour_send", "must be from 0 to 1,000,000,000; 0 means no limit")
	case n.MaxSendRate < 0 || n.MaxSendRate > maxLimit:
		return core.Invalid("max_send_rate", "must be from 0 to 1,000,000,000; 0 means no limit")
	case len(n.AccessKeyID) > maxSecret || !utf8.ValidString(n.AccessKeyID) || strings.ContainsAny(n.AccessKeyID, "\x00\r\n"):
		return core.Invalid("access_key_id", "must be one line of at most 1024 bytes of UTF-8")
	}
	return n.checkIdentities()
}

// describesServer reports whether the input has identities or send limits. Only SMTP
// accounts may have them; the other providers report identities and limits themselves.
func (n NewConnection) describesServer() bool {
	return len(n.Identities) > 0 || n.Max24HourSend != 0 || n.MaxSendRate != 0
}

const (
	maxIdentities     = 100
	maxIdentityLength = 320
	// maxLimit is the maximum of the configured send limits. It is above the limit of any
	// server and low enough that sums do not overflow.
	maxLimit = 1_000_000_000
)

func (n NewConnection) checkIdentities() error {
	if len(n.Identities) > maxIdentities {
		return core.Invalid("identities", "must have at most 100 items")
	}
	for _, identity := range n.Identities {
		if !isIdentity(identity) {
			return core.Invalid("identities", "must be domains or addresses, such as example.com and me@example.com")
		}
	}
	return nil
}

func isIdentity(text string) bool {
	local, domain, isAddress := strings.Cut(text, "@")
	if !isAddress {
		return len(text) <= maxIdentityLength && strings.Contains(text, ".") && serverNames.MatchString(text)
	}
	parsed, err := mail.ParseAddress(text)
	return len(text) <= maxIdentityLength && err == nil && parsed.Address == text && local != "" && serverNames.MatchString(domain)
}
