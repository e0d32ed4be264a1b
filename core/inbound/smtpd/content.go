package smtpd

import (
	"bytes"
	"strings"
)

// refusal is a reply that refuses a message because of its content.
type refusal struct {
	code           int
	enhanced, text string
	outcome        Outcome
}

func (r *refusal) Error() string { return "smtpd: message refused: " + r.text }

// The refusals of messages. All are permanent: the same message would be refused again.
var (
	refuseLineEnd = &refusal{554, "5.6.0", "Message has a CR or LF on its own; end lines with CR LF (RFC 5321 section 2.3.8)", BareLineEnd}
	refuseSize    = &refusal{552, "5.3.4", "Message is larger than this server accepts", TooLarge}
	refuseLoop    = &refusal{554, "5.4.6", "Too many Received fields, the mail loops", Loop}
)

// content checks a message while it is read: its size, its line ends and its Received fields.
// It keeps no content apart from the first bytes of a header line.
type content struct {
	left     int64 // bytes until the size limit
	cr       bool  // the last byte was CR
	body     bool  // the header has ended
	received int
	begin    [len(receivedName)]byte // the begin of the present header line
	n        int                     // bytes of begin
	fault    *refusal                // the first one
}

// receivedName is the begin of the fields that are counted, in lower case.
const receivedName = "received:"

// check reads the next bytes. After a fault it returns the same fault again.
func (c *content) check(p []byte) error {
	if c.fault == nil {
		c.fault = c.find(p)
	}
	if c.fault != nil {
		return c.fault
	}
	return nil
}

// end checks the end of the message.
func (c *content) end() error {
	if c.fault == nil && c.cr {
		c.fault = refuseLineEnd
	}
	if c.fault != nil {
		return c.fault
	}
	return nil
}

// find returns the first fault in p.
func (c *content) find(p []byte) *refusal {
	if c.left -= int64(len(p)); c.left < 0 {
		return refuseSize
	}
	for len(p) > 0 {
		line, rest, whole := bytes.Cut(p, []byte{'\n'})
		p = rest
		if c.cr && (len(line) > 0 || !whole) {
			return refuseLineEnd
		}
		at := bytes.IndexByte(line, '\r')
		if at >= 0 && at < len(line)-1 || whole && at < 0 && !c.cr {
			return refuseLineEnd
		}
		c.cr = at >= 0 && !whole
		if at >= 0 {
			line = line[:at]
		}
		if !c.body {
			if fault := c.header(line, whole); fault != nil {
				return fault
			}
		}
	}
	return nil
}

// header reads a part of a header line without its line end. whole says that the line ends.
func (c *content) header(part []byte, whole bool) *refusal {
	c.n += copy(c.begin[c.n:], part)
	if !whole {
		return nil
	}
	if c.body = c.n == 0; c.body {
		return nil
	}
	if c.n == len(receivedName) && strings.EqualFold(string(c.begin[:]), receivedName) {
		c.received++
	}
	c.n = 0
	if c.received > maxReceived {
		return refuseLoop
	}
	return nil
}
