package reports

import "github.com/mailhelm/mailhelm/core/messages"

func (c *Counts) add(o Counts) {
	c.Sent += o.Sent
	c.Delivered += o.Delivered
	c.Bounced += o.Bounced
	c.Complained += o.Complained
	c.Suppressed += o.Suppressed
	c.Opens += o.Opens
	c.UniqueOpens += o.UniqueOpens
	c.Clicks += o.Clicks
	c.UniqueClicks += o.UniqueClicks
}

// counter returns the counter of c for events of type t, nil if such events are not
// counted.
func (c *Counts) counter(t messages.EventType) *int64 {
	switch t {
	case messages.Send:
		return &c.Sent
	case messages.Delivery:
		return &c.Delivered
	case messages.Bounce:
		return &c.Bounced
	case messages.Complaint:
		return &c.Complained
	case messages.Reject:
		return &c.Suppressed
	case messages.Open:
		return &c.Opens
	case messages.Click:
		return &c.Clicks
	default:
		return nil
	}
}

// unique returns the counter of c that counts each recipient of a message once. It returns
// nil if type t has no such counter.
func (c *Counts) unique(t messages.EventType) *int64 {
	switch t {
	case messages.Open:
		return &c.UniqueOpens
	case messages.Click:
		return &c.UniqueClicks
	default:
		return nil
	}
}

// Tally adds events of type t to the counts. The parameter events is the number of events.
// The parameter uniques is the number of recipients who had no earlier event of this type
// for the same message.
func (c *Counts) Tally(t messages.EventType, events, uniques int64) {
	if counter := c.counter(t); counter != nil {
		*counter += events
	}
	if unique := c.unique(t); unique != nil {
		*unique += uniques
	}
}

// The methods that follow return rates between 0 and 1. A rate is 0 if its denominator is
// 0.

func (c Counts) deliveryRate() float64  { return Share(c.Delivered, c.Sent) }
func (c Counts) bounceRate() float64    { return Share(c.Bounced, c.Sent) }
func (c Counts) complaintRate() float64 { return Share(c.Complained, c.Sent) }
func (c Counts) openRate() float64      { return Share(c.UniqueOpens, c.Delivered) }
func (c Counts) clickRate() float64     { return Share(c.UniqueClicks, c.Delivered) }

func (c Counts) rates() Rates {
	return Rates{Delivery: c.deliveryRate(), Bounce: c.bounceRate(), Complaint: c.complaintRate(), Open: c.openRate(), Click: c.clickRate()}
}

// Share returns part/whole, at most 1, and 0 if whole is 0. part can exceed whole if events
// are missing: a delivery counts even if the Send of its message never arrived.
func Share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return min(1, float64(part)/float64(whole))
}
