package mailhistory

// Letter is a kind of mail: its channel, template, sender and subject, and the probabilities, from 0
// to 1, with which a recipient opens it, clicks on a link in it and complains about it.
type Letter struct {
	Channel, Template, From, Subject string
	Opened, Clicked, Complained      float64
}

// The letters of the history. Onboarding are sent to new customers, three days apart.
var (
	Newsletter = Letter{"marketing", "weekly-newsletter", "news@example.org", "This week at the roastery", 0.42, 0.12, 0.0007}
	Receipt    = Letter{"transactional", "order-receipt", "orders@example.com", "Your Fernhill receipt", 0.5, 0.1, 0}
	Reopening  = Letter{"marketing", "wholesale-reopening", "news@example.org", "Wholesale is open again", 0.2, 0.05, 0.02}
	Onboarding = []Letter{
		{"onboarding", "welcome", "hello@example.com", "Welcome to Fernhill Coffee", 0.6, 0.25, 0},
		{"onboarding", "brewing-guide", "hello@example.com", "How to brew your first bag", 0.5, 0.2, 0},
		{"onboarding", "first-order", "hello@example.com", "Ten per cent off your first order", 0.4, 0.15, 0.0004},
	}
)
