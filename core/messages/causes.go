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
	{PermanentBounce, "NoEmail"}: {why: "the receiving server answered that the mailbox does not exist", remedies: []remedy{checkAddress, stopMailing, checkSuppression}},
	{PermanentBounce, "Suppressed"}: {
		why:    "the address recently bounced for other senders of the provider, so it is on the provider's own suppression list",
		unsent: true, remedies: []remedy{checkAddress, stopMailing, waitForProvider},
	},
	{PermanentBounce, OnAccountList}: {
		why:    "the address is on the account's suppression list: earlier mail to it bounced or led to a complaint, or a person added it",
		unsent: true, remedies: []remedy{checkSuppression, leaveList, checkAddress},
	},
	{PermanentBounce, "UnsubscribedRecipient"}: {
		why:    "the recipient has unsubscribed from the topic or from all mail",
		unsent: true, remedies: []remedy{respectChoice},
	},

	{TransientBounce, ""}:                      {why: "the receiving server refused it for a temporary reason", remedies: []remedy{readAnswer, sendLater}},
	{TransientBounce, "General"}:               {why: "the receiving server refused it for a temporary reason that the provider could not identify; automatic replies are also reported this way", remedies: []remedy{readAnswer, sendLater}},
	{TransientBounce, "MailboxFull"}:           {why: "the recipient's mailbox is full", remedies: []remedy{sendLater, askElsewhere}},
	{TransientBounce, "MessageTooLarge"}:       {why: "the message is larger than the receiving server accepts", remedies: []remedy{makeSmaller, findSameTemplate}},
	{TransientBounce, "ContentRejected"}:       {why: "the receiving server refused the content of the message, for example as spam or for a harmful link", remedies: []remedy{readAnswer, checkContent, checkAuthentication, findSameTemplate}},
	{TransientBounce, "AttachmentRejected"}:    {why: "the receiving server refused an attachment because of its type or content", remedies: []remedy{changeAttachment, findSameTemplate}},
	{TransientBounce, "ChannelLimitExceeded"}:  {why: "the message exceeded a limit of its channel", unsent: true, remedies: []remedy{slowDown, sendLater, checkReadiness}},
	{TransientBounce, "CustomTimeoutExceeded"}: {why: "it could not be delivered within the configured time", remedies: []remedy{readAnswer, sendLater}},

	{UndeterminedBounce, ""}:             {why: "it bounced, and the provider could not determine whether the bounce is permanent", remedies: []remedy{readAnswer, sendLater, checkAddress}},
	{UndeterminedBounce, "Undetermined"}: {why: "it bounced, and the provider could not determine the reason", remedies: []remedy{readAnswer, sendLater, checkAddress}},
}

// delays maps the provider's delay type to the cause of a delayed delivery.
var delays = map[string]cause{
	"InternalFailure":                {why: "something failed at the provider"},
	"General":                        {why: "the communication between the provider and the receiving server failed"},
	"MailboxFull":                    {why: "the recipient's mailbox is full", remedies: []remedy{askElsewhere}},
	"SpamDetected":                   {why: "the receiving server classified much of the account's mail as spam", remedies: []remedy{checkContent, checkAuthentication, readHealth}},
	"RecipientServerError":           {why: "the receiving server has an internal error"},
	"IPFailure":                      {why: "the receiving server delays or blocks mail from the provider's IP address", remedies: []remedy{slowDown, readHealth}},
	"TransientCommunicationFailure":  {why: "the connection to the receiving server failed"},
	"BYOIPHostNameLookupUnavailable": {why: "the host name of the account's own IP address could not be looked up", remedies: []remedy{checkReadiness}},
	"SendingDeferral":                {why: "the provider deferred the message", remedies: []remedy{checkReadiness}},
	"Undetermined":                   {why: "of a reason that the provider could not determine"},
}
