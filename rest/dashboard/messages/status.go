package messages

import (
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstatus"
)

// statusOptions returns the options of the filter by status.
func statusOptions(chosen string) []frame.Option {
	var options []frame.Option
	for _, s := range mailstatus.All() {
		if s.Value != "" {
			options = append(options, frame.Option{Value: s.Value, Name: s.Name})
		}
	}
	return frame.ChooseOption(options, chosen)
}

// outcome is how the page of a message shows the outcome of its diagnosis.
type outcome struct{ Name, Mark string }

// outcomes are the outcomes by the name in the operation messages_diagnose.
var outcomes = map[string]outcome{
	"arrived":    {"Arrived", "delivered"},
	"complained": {"Arrived, and the recipient complained", "complained"},
	"bounced":    {"Did not arrive", "bounced"},
	"not_sent":   {"Not sent", "bounced"},
	"delayed":    {"Delayed", "delayed"},
	"underway":   {"On its way", "sent"},
	"silent":     {"Unknown", "delayed"},
}
