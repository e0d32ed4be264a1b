package messages

// cause explains why a message bounced or was delayed, and how to fix it. The field why is
// the end of a sentence such as "The message did not arrive: ...".
type cause struct {
	why string
	// unsent is true if the provider did not try to deliver the message.
	unsent   bool
	remedies []remedy
}

// bounces maps the type and sub type of a bounce to its cause. An entry without a sub type
// also applies to sub types that are not listed.
var bounces = map[BounceKind]cause{
	{PermanentBounce, ""}:        {why: "the receiving server refused it permanently", remedies: []remedy{checkAddress, stopMailing, checkSuppression}},
	{PermanentBounce, "General"}: {why: "the receiving server refused it permanently; the provider could not identify the reason", remedies: []remedy{readAnswer, checkAddress, checkSuppression}},
	{PermanentBounce, "NoEmail"}: {why: "the receiving server says that there is no such mailbox", remedies: []remedy{checkAddress, stopMailing, checkSuppression}},
	{PermanentBounce, "Suppressed"}: {
		why:    "the address bounced for many senders of the provider of late, and the provider keeps it on a list of its own",
		unsent: true, remedies: []remedy{checkAddress, stopMailing, waitForProvider},
	},
	{PermanentBounce, OnAccountList}: {
		why:    "the address is on the account's suppression list, because mail to it bounced or was complained about before, or by hand",
		unsent: true, remedies: []remedy{checkSuppression, leaveList, checkAddress},
	},
	{PermanentBounce, "UnsubscribedRecipient"}: {
		why:    "the recipient has unsubscribed from the topic or from everything",
		unsent: true, remedies: []remedy{respectChoice},
	},

	{TransientBounce, ""}:                      {why: "the receiving server did not take it, for a reason that may pass", remedies: []remedy{readAnswer, sendLater}},
	{TransientBounce, "General"}:               {why: "the receiving server did not take it, for a reason that may pass and that the provider could not name; automatic replies come as this kind, too", remedies: []remedy{readAnswer, sendLater}},
	{TransientBounce, "MailboxFull"}:           {why: "the recipient's mailbox is full", remedies: []remedy{sendLater, askElsewhere}},
	{TransientBounce, "MessageTooLarge"}:       {why: "the message is larger than the receiving server takes", remedies: []remedy{makeSmaller, findSameTemplate}},
	{TransientBounce, "ContentRejected"}:       {why: "the receiving server refused what the message says, as it would spam or a harmful link", remedies: []remedy{readAnswer, checkContent, checkAuthentication, findSameTemplate}},
	{TransientBounce, "AttachmentRejected"}:    {why: "the receiving server refuses an attachment, for its type or its content", remedies: []remedy{changeAttachment, findSameTemplate}},
	{TransientBounce, "ChannelLimitExceeded"}:  {why: "the message was over a limit of its channel", unsent: true, remedies: []remedy{slowDown, sendLater, checkReadiness}},
	{TransientBounce, "CustomTimeoutExceeded"}: {why: "it could not be delivered within the time that was set for it", remedies: []remedy{readAnswer, sendLater}},

	{UndeterminedBounce, ""}:             {why: "it came back, and the provider could not tell from the answer whether that is final", remedies: []remedy{readAnswer, sendLater, checkAddress}},
	{UndeterminedBounce, "Undetermined"}: {why: "it came back, and the provider could not tell from the answer why", remedies: []remedy{readAnswer, sendLater, checkAddress}},
}

// delays maps the provider's delay type to the cause of a delayed delivery.
var delays = map[string]cause{
	"InternalFailure":                {why: "something failed at the provider"},
	"General":                        {why: "something failed while the provider and the receiving server talked"},
	"MailboxFull":                    {why: "the recipient's mailbox is full", remedies: []remedy{askElsewhere}},
	"SpamDetected":                   {why: "the receiving server took much of the account's mail for spam", remedies: []remedy{checkContent, checkAuthentication, readHealth}},
	"RecipientServerError":           {why: "the receiving server has a fault of its own"},
	"IPFailure":                      {why: "the receiving server holds back or blocks mail from the address that the provider sends from", remedies: []remedy{slowDown, readHealth}},
	"TransientCommunicationFailure":  {why: "the connection to the receiving server failed"},
	"BYOIPHostNameLookupUnavailable": {why: "the name of the account's own sending address could not be looked up", remedies: []remedy{checkReadiness}},
	"SendingDeferral":                {why: "the provider itself holds the message back for a while", remedies: []remedy{checkReadiness}},
	"Undetermined":                   {why: "of something that the provider could not determine"},
}
