package smtpd

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/inbound"
)

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// beginMail executes MAIL.
func (s *session) beginMail(arg string) error {
	switch {
	case s.helo == "":
		return s.reply(503, "5.5.1", "Say EHLO or HELO first")
	case s.mail != nil:
		return s.reply(503, "5.5.1", "The sender is given already")
	case s.messages >= s.server.limits.Messages:
		return errTooMany
	}
	arg, ok := cutKeyword(arg, "FROM:")
	sender, parameters, valid := parsePath(arg)
	if !ok || !valid {
		return s.faulty(501, "5.5.4", "Syntax: MAIL FROM:<address>")
	}
	mail := &transaction{sender: sender}
	if code, enhanced, text := s.readParameters(mail, parameters); code != 0 {
		return s.faulty(code, enhanced, text)
	}
	switch {
	case sender != "" && !isMailbox(sender):
		return s.faulty(553, "5.1.7", "Sender is not an address")
	case !mail.utf8 && !isASCII(sender):
		return s.faulty(553, "5.6.7", "Sender needs the parameter SMTPUTF8")
	case !s.inPace():
		return s.reply(451, "4.7.1", "Too many messages from your network, try again later")
	}
	s.mail = mail
	return s.reply(250, "2.1.0", "OK")
}

// inPace reports whether the client's network may send a message now.
func (s *session) inPace() bool {
	if !s.remote.IsValid() || s.remote.IsLoopback() {
		return true
	}
	if s.server.pace.Take(networkOf(s.remote).String(), s.server.cfg.Clock()) == 0 {
		return true
	}
	s.server.cfg.Count(Message, TooMany)
	return false
}

// cutKeyword removes a keyword in any case from the beginning of an argument.
func cutKeyword(arg, keyword string) (string, bool) {
	if len(arg) < len(keyword) || !strings.EqualFold(arg[:len(keyword)], keyword) {
		return arg, false
	}
	return arg[len(keyword):], true
}

// readParameters reads the parameters of MAIL. It returns a reply if one is invalid.
func (s *session) readParameters(mail *transaction, parameters []string) (code int, enhanced, text string) {
	seen := map[string]bool{}
	for _, parameter := range parameters {
		key, value, _ := strings.Cut(parameter, "=")
		key = strings.ToUpper(key)
		if seen[key] {
			return 501, "5.5.4", "A parameter is given twice"
		}
		seen[key] = true
		switch key {
		case "SIZE":
			size, err := strconv.ParseUint(value, 10, 64)
			if err != nil && (value == "" || strings.Trim(value, "0123456789") != "") {
				return 501, "5.5.4", "SIZE is not a number"
			}
			if err != nil || size > uint64(s.server.limits.MessageBytes) {
				return refuseSize.code, refuseSize.enhanced, refuseSize.text
			}
		case "BODY":
			if value = strings.ToUpper(value); value != "7BIT" && value != "8BITMIME" {
				return 501, "5.5.4", "BODY must be 7BIT or 8BITMIME"
			}
		case "SMTPUTF8":
			if parameter != key && !strings.EqualFold(parameter, key) {
				return 501, "5.5.4", "SMTPUTF8 has no value"
			}
			mail.utf8 = true
		default:
			return 555, "5.5.4", "Unknown parameter"
		}
	}
	return 0, "", ""
}

// addRecipient executes RCPT.
//
// All recipients of a transaction belong to one organization, because the reply to DATA is one
// for all of them: if the store of one organization failed, a negative reply would make the
// client send the message to the other organization again. Clients send the recipients that get
// 452 in another transaction (RFC 5321 section 4.5.3.1.10).
func (s *session) addRecipient(arg string) error {
	if s.mail == nil {
		return s.reply(503, "5.5.1", "Give the sender first")
	}
	arg, ok := cutKeyword(arg, "TO:")
	address, parameters, valid := parsePath(arg)
	switch {
	case !ok || !valid:
		return s.faulty(501, "5.5.4", "Syntax: RCPT TO:<address>")
	case len(parameters) > 0:
		return s.faulty(555, "5.5.4", "Unknown parameter")
	case strings.EqualFold(address, "postmaster"):
		return s.refuse(NoSuchInbox, 550, "5.1.1", "No such inbox here")
	case !isMailbox(address):
		return s.faulty(553, "5.1.3", "Recipient is not an address")
	case !s.mail.utf8 && !isASCII(address):
		return s.faulty(553, "5.6.7", "Recipient needs the parameter SMTPUTF8")
	case s.mail.rcpts >= s.server.limits.Recipients:
		s.server.cfg.Count(Recipient, TooMany)
		return s.reply(452, "4.5.3", "Too many recipients, send the others in another transaction")
	}
	route, refusal, err := s.server.cfg.Router.Route(s.server.ctx, address)
	switch {
	case err != nil:
		s.server.cfg.Log.ErrorContext(s.server.ctx, "smtp: the route of a recipient could not be found", "error", err)
		s.server.cfg.Count(Recipient, Failed)
		return s.reply(451, "4.3.0", "Recipient cannot be checked now, try again later")
	case refusal == inbound.NoSuchInbox:
		return s.refuse(NoSuchInbox, 550, "5.1.1", "No such inbox here")
	case refusal != inbound.Accepted:
		return s.refuse(NotOurs, 550, "5.7.1", "No mail for this domain here, and no relay")
	}
	return s.addRoute(route)
}

// addRoute adds a route to the transaction, unless it is there already or belongs to another
// organization.
func (s *session) addRoute(route inbound.Route) error {
	mail := s.mail
	if len(mail.routes) > 0 && mail.routes[0].OrgID != route.OrgID {
		s.server.cfg.Count(Recipient, OtherOrganization)
		return s.reply(452, "4.5.3", "Send this recipient in another transaction")
	}
	mail.rcpts++
	s.server.cfg.Count(Recipient, Accepted)
	for _, other := range mail.routes {
		if other.TargetID == route.TargetID && other.LocalPart == route.LocalPart && other.Domain == route.Domain {
			return s.reply(250, "2.1.5", "OK")
		}
	}
	mail.routes = append(mail.routes, route)
	return s.reply(250, "2.1.5", "OK")
}

// refuse refuses a recipient for good. After the first few, the reply is delayed, and after
// more the session ends, so that guessing addresses is slow.
func (s *session) refuse(outcome Outcome, code int, enhanced, text string) error {
	s.server.cfg.Count(Recipient, outcome)
	if s.unknown++; s.unknown >= s.server.limits.UnknownRecipients {
		return errUnknown
	}
	if delay := s.server.limits.Tarpit; delay > 0 && s.unknown > freeUnknown {
		s.server.wait(delay)
	}
	return s.reply(code, enhanced, text)
}

// literal returns an address in the form of RFC 5321 section 4.1.3.
func literal(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "unknown"
	case a.Is4():
		return "[" + a.String() + "]"
	}
	return "[IPv6:" + a.String() + "]"
}
