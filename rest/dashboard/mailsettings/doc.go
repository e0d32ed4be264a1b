// Package mailsettings has the dashboard page with the settings of all mail of an
// organization: language, postal address, unsubscribe footer and address of assets.
package mailsettings
