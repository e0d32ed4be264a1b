package domainauth

import (
	"math"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// condition is a criterion as a line of the checklist.
type condition struct {
	Mark mark
	// Name is the condition, Measured what was measured and how much is needed, Repair what to
	// do, "" if nothing.
	Name, Measured, Repair string
	// Link leads to the page for the repair, nil without one.
	Link *frame.Link
}

// conditionsOf returns the checklist.
func conditionsOf(r domainauth.Readiness, path string) []condition {
	all := make([]condition, 0, len(r.Criteria))
	for _, c := range r.Criteria {
		line := condition{Name: string(c.Name), Measured: "Nothing was measured."}
		if known := conditions[c.Name]; known != nil {
			line = known(c, r, path)
		}
		switch {
		case !c.Blocking && c.Name == readiness.PassRate:
			line.Mark = mark{"for information", "sent"}
		case c.Met:
			line.Mark = mark{"met", "delivered"}
		case c.Value == nil:
			line.Mark = mark{"not known", "delayed"}
		default:
			line.Mark = mark{"not met", "bounced"}
		}
		if c.Met {
			line.Repair, line.Link = "", nil
		}
		all = append(all, line)
	}
	return all
}

// describe describes a criterion. path is that of the domain.
type describe func(c domainauth.Criterion, r domainauth.Readiness, path string) condition

// conditions describe the criteria.
var conditions = map[readiness.Name]describe{
	readiness.CoverageDays: func(c domainauth.Criterion, _ domainauth.Readiness, path string) condition {
		of := " of the " + strconv.Itoa(readiness.WindowDays) + " days before today."
		return condition{
			Name: "Reports cover enough days", Measured: measured(c, "Reports cover 1"+of, "Reports cover #"+of, "At least @ are needed."),
			Repair: "Wait: receivers send one report a day. If days are missing in between, check that the record sends reports.",
			Link:   &frame.Link{Path: path + tabSetup, Name: "Check the records"},
		}
	},
	readiness.MessageVolume: func(c domainauth.Criterion, _ domainauth.Readiness, _ string) condition {
		return condition{
			Name: "Reports cover enough mail", Measured: measured(c, "Reports count 1 message in these days.", "Reports count # messages in these days.", "At least @ are needed."),
			Repair: "Wait for more reports. With less mail, a rare mistake is not seen yet.",
		}
	},
	readiness.DistinctProviders: func(c domainauth.Criterion, _ domainauth.Readiness, _ string) condition {
		return condition{
			Name: "Several receivers report", Measured: measured(c, "The reports are from 1 receiver.", "The reports are from # receivers.", "At least @ are needed."),
			Repair: "Wait for reports of others, such as Google, Microsoft or Yahoo. They report once mail reaches mailboxes of theirs.",
		}
	},
	readiness.PassRate: func(c domainauth.Criterion, _ domainauth.Readiness, _ string) condition {
		line := condition{Name: "Mail passes", Measured: "No message is reported in these days."}
		if c.Value != nil {
			line.Measured = percentage(c.Value) + " of the messages passed. This rate alone decides nothing: mail of strangers in your name should fail."
		}
		return line
	},
	readiness.NoUnalignedSending: func(c domainauth.Criterion, _ domainauth.Readiness, path string) condition {
		return condition{
			Name: "No sender of yours always fails", Measured: noneOr(c, "All mail of 1 sender of yours fails.", "All mail of # senders of yours fails.", "At most @ are acceptable."),
			Repair: "Turn on domain authentication (DKIM) for your domain at these senders, or reject them if you do not use them.",
			Link:   &frame.Link{Path: path + tabSources, Name: "Open sources"},
		}
	},
	readiness.AcceptableImpact: acceptableImpact,
	readiness.TimeAtCurrentPolicy: func(c domainauth.Criterion, r domainauth.Readiness, _ string) condition {
		since := "The present policy has been published for "
		if r.CurrentPolicy != nil {
			since = "The policy " + *r.CurrentPolicy + " has been published for "
		}
		return condition{
			Name: "The present policy had time to show its effect", Measured: measured(c, since+"1 day.", since+"# days.", "At least @ are needed."),
			Repair: "Wait. Some mail is sent once a month only.",
		}
	},
	readiness.NoNewUnknownSources: func(c domainauth.Criterion, _ domainauth.Readiness, path string) condition {
		return condition{
			Name:     "No new sender waits for a decision",
			Measured: noneOr(c, "1 unknown source is new in these days and has no decision.", "# unknown sources are new in these days and have no decision.", "At most @ are acceptable."),
			Repair:   "Confirm or reject them.",
			Link:     &frame.Link{Path: path + tabSources + "?decision=unreviewed&classification=unknown", Name: "Open unknown sources"},
		}
	},
}

// acceptableImpact describes the criterion on the mail that a stricter policy would lose. It has
// two parts: the confirmed senders together, and each source without a decision alone.
func acceptableImpact(c domainauth.Criterion, r domainauth.Readiness, path string) condition {
	line := condition{
		Name:     "Little mail that you want would be lost",
		Measured: measured(c, "Of the senders that you confirmed, 1 message a day fails.", "Of the senders that you confirmed, # messages a day fail.", "At most @ are acceptable."),
		Repair:   "Repair these senders: turn on domain authentication (DKIM) for your domain there.",
		Link:     &frame.Link{Path: path + tabSources + "?decision=confirmed", Name: "Open confirmed sources"},
	}
	var blocking []string
	for _, s := range r.Impact.Sources {
		if s.Blocks {
			blocking = append(blocking, frame.Quoted(s.Name))
		}
	}
	if len(blocking) == 0 {
		return line
	}
	line.Measured += " Decide first about each source with " + strconv.Itoa(readiness.UnreviewedBlocks) + " failing messages or more: " + firstOf(blocking) + "."
	decide := &frame.Link{Path: path + tabSources + "?decision=unreviewed", Name: "Open sources without a decision"}
	if c.Value != nil && c.Threshold != nil && *c.Value <= *c.Threshold {
		line.Repair, line.Link = "Confirm or reject these sources.", decide
	} else {
		line.Repair += " Confirm or reject the sources without a decision."
	}
	return line
}

// firstOf lists at most three texts, and says how many more there are.
func firstOf(texts []string) string {
	const shown = 3
	if len(texts) <= shown {
		return strings.Join(texts, ", ")
	}
	return strings.Join(texts[:shown], ", ") + " and " + strconv.Itoa(len(texts)-shown) + " more"
}

// measured returns the sentences about a criterion: one for the value 1, else many with the value
// in place of #, then needed with the threshold in place of @.
func measured(c domainauth.Criterion, one, many, needed string) string {
	text := "This is not known yet."
	switch {
	case c.Value == nil:
	case *c.Value == 1:
		text = one
	default:
		text = strings.Replace(many, "#", amount(*c.Value), 1)
	}
	if c.Threshold != nil {
		text += " " + strings.Replace(needed, "@", amount(*c.Threshold), 1)
	}
	return text
}

// noneOr returns what measured does, and a short sentence for the value 0.
func noneOr(c domainauth.Criterion, one, many, needed string) string {
	if c.Value != nil && *c.Value == 0 {
		return "There is none."
	}
	return measured(c, one, many, needed)
}

// amount formats an amount with at most one decimal. An amount that is not whole is rounded up,
// so that it never looks as if it met a limit that it exceeds.
func amount(v float64) string {
	if v != math.Trunc(v) {
		v = math.Ceil(v*10) / 10
	}
	return frame.Count(v)
}
