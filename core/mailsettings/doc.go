// Package mailsettings has the settings that apply to all mail of an organization: the
// language of footers and public pages, the postal address, the unsubscribe footer, and the
// address of assets. People edit them on the dashboard.
package mailsettings
