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

// counter is where events of the type are counted, nil for those that are not.
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

// unique is where the first of a recipient's events of the type is counted, nil
// for types without such a count.
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

// Tally adds what a store counted from events of one type.
func (c *Counts) Tally(t messages.EventType, events, uniques int64) {
	if counter := c.counter(t); counter != nil {
		*counter += events
	}
	if unique := c.unique(t); unique != nil {
		*unique += uniques
	}
}

// The rates, from 0 to 1. Each is 0 where there is nothing to relate to.

func (c Counts) deliveryRate() float64  { return ratio(c.Delivered, c.Sent) }
func (c Counts) bounceRate() float64    { return ratio(c.Bounced, c.Sent) }
func (c Counts) complaintRate() float64 { return ratio(c.Complained, c.Sent) }
func (c Counts) openRate() float64      { return ratio(c.UniqueOpens, c.Delivered) }
func (c Counts) clickRate() float64     { return ratio(c.UniqueClicks, c.Delivered) }

func (c Counts) rates() Rates {
	return Rates{Delivery: c.deliveryRate(), Bounce: c.bounceRate(), Complaint: c.complaintRate(), Open: c.openRate(), Click: c.clickRate()}
}

// ratio is at most 1. A part is greater than its whole where events are missing: a
// delivery counts although the Send of its message never arrived.
func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return min(1, float64(part)/float64(whole))
}
