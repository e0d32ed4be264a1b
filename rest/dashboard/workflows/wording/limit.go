package wording

import (
	"fmt"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// LimitWords says how many messages a contact gets from all workflows.
func LimitWords(limit *language.Cap) string {
	if limit == nil {
		return "No limit on the messages of all workflows to a contact."
	}
	return fmt.Sprintf("A contact gets at most %s within %s from all workflows.", counted(limit.Messages), limit.Per)
}

func counted(messages int) string {
	if messages == 1 {
		return "1 message"
	}
	return strconv.Itoa(messages) + " messages"
}

// Units are the units of the period that the form offers.
var Units = []predicate.Unit{predicate.Hour, predicate.Day, predicate.Week}

// ParseLimit returns the limit in the fields of a form. It fails with
// core.CodeValidationFailed for the fields messages and per.
func ParseLimit(messagesText, amountText, unit string) (*language.Cap, error) {
	messages, err := strconv.Atoi(messagesText)
	if err != nil {
		return nil, core.Invalid("messages", "is not a whole number")
	}
	amount, err := strconv.Atoi(amountText)
	if err != nil || amount < 1 || amount > 10_000 {
		return nil, core.Invalid("per", "must be a whole number from 1 to 10,000 of a unit")
	}
	for _, u := range Units {
		if u.Word() == unit {
			return &language.Cap{Messages: messages, Per: language.Duration{Amount: amount, Unit: u}}, nil
		}
	}
	return nil, core.Invalid("per", "must be in hours, days or weeks")
}
