package messages

import (
	"github.com/mailhelm/mailhelm/core"
)

// remedy is an action that may solve a delivery problem. If tool is set, a call of that
// tool carries the action out. Callers need the scopes of the tool for it.
type remedy struct {
	step string
	tool string
	// scopes are the scopes that the tool call requires.
	scopes []core.Scope
	// arguments returns the arguments of the tool call. It returns nil if they cannot be
	// filled in, for example without a recipient.
	arguments func(*course) map[string]any
}

var (
	checkAddress     = remedy{"Check the spelling of the address. If it is right, ask the recipient for another address.", "contacts_lookup", []core.Scope{core.ContactsView, core.MessagesUnmask}, withRecipient}
	checkSuppression = remedy{"Look the address up on the account's suppression list.", "suppressions_check_address", []core.Scope{core.SuppressionsView, core.MessagesUnmask}, withRecipient}
	checkReadiness   = remedy{"Check whether the sending account is in order.", "sending_readiness_check", []core.Scope{core.AccountView}, withNothing}
	readHealth       = remedy{"Check whether bounces and complaints have risen for the whole account.", "reports_get_sending_health", []core.Scope{core.ReportsView}, withNothing}
	findSameTemplate = remedy{"Check whether other messages of the same template are affected.", "messages_search", []core.Scope{core.MessagesView}, withTemplate}

	stopMailing         = remedy{step: "Send no more mail to this address: repeated bounces harm the account's reputation."}
	respectComplaint    = remedy{step: "Send no more mail to this person unless they ask for it, and find out why they got the message."}
	respectChoice       = remedy{step: "Respect the opt-out. The recipient can subscribe again."}
	leaveList           = remedy{step: "When the recipient has confirmed that the address works and that they want the mail, remove it from the suppression list in the sending account."}
	waitForProvider     = remedy{step: "If you are sure that the address works, send again after two weeks. Only the provider can change its list."}
	readAnswer          = remedy{step: "Read the server's answer in the events: it often names the reason, or a page that explains it."}
	sendLater           = remedy{step: "Send again in a few hours. If it bounces again, stop."}
	askElsewhere        = remedy{step: "Contact the recipient another way and ask them to make room in the mailbox."}
	waitAndSee          = remedy{step: "Wait, and diagnose the message again in an hour. Sending it again now may deliver it twice."}
	lookInSpam          = remedy{step: "Ask the recipient to look in the spam folder and in other tabs, and to check the rules of the mailbox."}
	makeSmaller         = remedy{step: "Make the message smaller: link to large files and images instead of attaching them."}
	changeAttachment    = remedy{step: "Leave the attachment out, link to it, or send another type of file."}
	checkContent        = remedy{step: "Change the text, links or attachments that a spam filter may refuse, then send again."}
	checkAuthentication = remedy{step: "Check the SPF, DKIM and DMARC records of the sending domain."}
	fixTemplate         = remedy{step: "Correct the template, or provide every value that it uses, then send the message again."}
	slowDown            = remedy{step: "Send more slowly, or request a higher limit."}
	checkEvents         = remedy{step: "Check that the channel's configuration set publishes its events and that they reach Mailhelm."}
	askAgain            = remedy{step: "Diagnose the message again in a minute to learn whether the recipient is suppressed."}
)

func withNothing(*course) map[string]any { return map[string]any{} }

func withRecipient(k *course) map[string]any {
	if !core.IsEmail(k.recipient) {
		return nil
	}
	return map[string]any{"email": k.recipient}
}

func withTemplate(k *course) map[string]any {
	if k.message.Template == "" {
		return nil
	}
	return map[string]any{"template": k.message.Template}
}

// remedies returns the suggested actions after the recipient was looked up on the account's
// suppression list: to read the entry that was found, or to diagnose again if the lookup
// failed.
func (s *suppressionAnswer) remedies() []remedy {
	switch {
	case s == nil || s.err == nil && s.entry == nil:
		return nil
	case s.err != nil:
		return []remedy{askAgain}
	}
	return []remedy{checkSuppression}
}

// steps returns the remedies as next steps, each once. A step contains a tool call only if
// the caller has the scopes and the arguments are known. The search for messages of the
// same template is left out if the message has no template.
func (k *course) steps(c *core.Call, remedies []remedy) []NextStep {
	steps, taken := []NextStep{}, map[string]bool{}
	for _, r := range remedies {
		if taken[r.step] || r.tool == "messages_search" && k.message.Template == "" {
			continue
		}
		taken[r.step] = true
		step := NextStep{Text: r.step}
		if r.tool != "" && c.Principal.Scopes.FirstMissing(r.scopes) == "" {
			if step.Arguments = r.arguments(k); step.Arguments != nil {
				step.Tool = r.tool
			}
		}
		steps = append(steps, step)
	}
	return steps
}
