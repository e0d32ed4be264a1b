package diagram

import (
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

func itoa(n int) string { return strconv.Itoa(n) }

// captionOf returns the texts of the box of a step.
func captionOf(step language.Step) (title, detail string) {
	switch s := step.(type) {
	case *language.Send:
		switch {
		case s.Topic != "":
			detail = "topic " + core.Quote(s.Topic)
		case s.Transactional:
			detail = "transactional"
		}
		return "Send " + core.Quote(s.Template), detail
	case *language.Wait:
		return "Wait " + s.For.String(), ""
	case *language.WaitUntil:
		if s.Attribute != "" {
			return "Wait until " + s.Attribute, "a date of the contact"
		}
		return "Wait until " + s.Day(), "in UTC"
	case *language.WaitFor:
		return "Wait up to " + s.UpTo.String(), "until " + s.Until.Condition()
	case *language.If:
		if len(s.Arms) == 1 {
			return "If", s.Arms[0].When.Condition()
		}
		return "Choose", "the first condition that holds"
	case *language.Split:
		return "Split", "at random; a contact stays in its share"
	case *language.HoldOut:
		return "Hold out " + itoa(s.Percent) + "%", "as a control group"
	case *language.Repeat:
		detail = "every " + s.Every.String()
		if s.Until != nil {
			detail += ", until " + s.Until.Condition()
		}
		return "Repeat up to " + itoa(s.Times) + "×", detail
	case *language.SetAttribute:
		assigned := s.Assignment.Root.(*predicate.Compare)
		return "Set " + assigned.Field.Name, "to " + assigned.Value.Words()
	case *language.AddToList:
		return "Add to list " + core.Quote(s.Key), ""
	}
	return "Exit", ""
}

// armLabels returns the labels of the arms of a step, in the order of [language.Arms].
func armLabels(step language.Step) []string {
	switch s := step.(type) {
	case *language.If:
		labels := []string{"Yes"}
		if len(s.Arms) > 1 {
			labels = nil
			for _, arm := range s.Arms {
				labels = append(labels, "if "+arm.When.Condition())
			}
		}
		return append(labels, lastLabel(s))
	case *language.Split:
		var labels []string
		for _, share := range s.Shares {
			labels = append(labels, itoa(share.Percent)+"%")
		}
		return labels
	}
	return []string{"Time is over"}
}

// lastLabel returns the label of the arm for contacts that match no condition.
func lastLabel(s *language.If) string {
	if len(s.Arms) == 1 {
		return "No"
	}
	return "otherwise"
}

// triggerTitle returns who enters, in a few words.
func triggerTitle(t language.Trigger) string {
	switch {
	case t.Kind == language.OnSegment:
		return "Enters the segment " + core.Quote(t.Segment)
	case t.Kind == language.OnDate && t.Distance.Amount == 0:
		return "At the date " + t.Attribute
	case t.Kind == language.OnDate && t.Before:
		return t.Distance.String() + " before " + t.Attribute
	case t.Kind == language.OnDate:
		return t.Distance.String() + " after " + t.Attribute
	case t.Event.Kind == predicate.ActivityEvent:
		return "Activity " + core.Quote(t.Event.Activity)
	}
	return "Event of mail: " + t.Event.String()
}

// rule is a setting in the box of the entry.
type rule struct{ class, text string }

// rulesOf returns the settings that the source states, without the trigger.
func rulesOf(s language.Settings) []rule {
	var rules []rule
	add := func(class, text string) { rules = append(rules, rule{class, text}) }
	if s.Where != nil {
		add("where", "only if "+s.Where.Condition())
	}
	for _, exit := range s.Exits {
		add("exit", "exit "+core.Quote(exit.Name)+" if "+exit.When.Condition())
	}
	if s.Window != nil {
		add("wait", "sends "+s.Window.String()+", in the timezone of the contact")
	}
	if s.Cap != nil && s.Cap.Off {
		add("hold_out", "no limit on messages")
	} else if s.Cap != nil {
		add("hold_out", "at most "+itoa(s.Cap.Messages)+" messages per "+s.Cap.Per.String())
	}
	if s.Reentry != language.Once {
		add("repeat", "may enter again")
	}
	if s.Enroll != nil {
		add("entry", enrollText(*s.Enroll))
	}
	return rules
}

func enrollText(e language.Enroll) string {
	switch {
	case !e.Existing:
		return "only from the activation on"
	case e.Since == language.Duration{}:
		return "earlier contacts enter too"
	}
	return "contacts of the last " + e.Since.String() + " enter too"
}
