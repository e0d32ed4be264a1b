package sources

import "fmt"

func detailFailing(s Identity, f sums) string {
	failed := fmt.Sprintf("%s of %d failed the check of your domain in %s. ", messages(f.failing()), f.Messages, f.window())
	switch s.Classification {
	case Own:
		return failed + "They came from your own servers or your sending account. Once your policy is stricter, receivers put such mail into the spam folder or refuse it. Check that every server signs its mail and is in the SPF record."
	case Authorised:
		return failed + "They came from " + s.Name + ", which may send for you. Once your policy is stricter, receivers put such mail into the spam folder or refuse it. Turn on domain authentication (DKIM) for your domain at this sender."
	case Forwarder:
		return failed + s.Name + ": the mail was sent to one mailbox and passed on to another, and was changed on the way. You cannot repair this. Once your policy is stricter, receivers may refuse such copies."
	case Unknown:
		return failed + "They came from " + s.Name + ", which is not authorized. If you use this sender, turn on domain authentication there. If you do not, a stricter policy stops this mail."
	default:
		return failed + "They came from " + s.Name + ", and nothing shows that they are yours. If you do not know this server, a stricter policy stops this mail."
	}
}

func detailDKIM(s Identity, f sums) string {
	return f.share(s, f.DKIMAligned, "have a signature (DKIM) of your domain") +
		"Without a signature, mail fails when a recipient forwards it to another mailbox. Turn on DKIM for your domain at this sender and publish the key that it gives you."
}

func detailSPF(s Identity, f sums) string {
	return f.share(s, f.SPFAligned, "have a return address of your domain that SPF confirms") +
		"Mail with a signature (DKIM) of your domain passes without it. To have both, set up a return address (MAIL FROM or bounce domain) of your domain at this sender."
}

// share says how many messages have something.
func (f sums) share(s Identity, aligned int64, what string) string {
	some := fmt.Sprintf("Only %d", aligned)
	if aligned == 0 {
		some = "None"
	}
	return fmt.Sprintf("%s of %s from %s in %s %s. ", some, messages(f.Messages), s.Name, f.window(), what)
}

func detailNew(s Identity, f sums) string {
	seen := fmt.Sprintf("%s sent mail in the name of your domain for the first time on %s, %s so far. ", s.Name, f.first.Format("2 January 2006"), messages(f.total))
	if s.Classification == Unknown {
		return seen + "It is not authorized. Decide whether you use this sender."
	}
	return seen + "It is authorized. Check that you know about it."
}

// window names the days of the sums.
func (f sums) window() string {
	if f.countingDays == 1 {
		return "one day"
	}
	return fmt.Sprintf("the last %d days with reports", f.countingDays)
}

func messages(n int64) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}
