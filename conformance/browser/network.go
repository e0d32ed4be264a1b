package browser

import (
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// SetOffline makes navigator.onLine false for the pages of the tab, or true again. Requests
// still reach their servers, so a test notices those that a page sends nevertheless.
func (tab *Tab) SetOffline(offline bool) {
	tab.t.Helper()
	_, err := chromedp.Call(tab.ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Offline: offline, DownloadThroughput: -1, UploadThroughput: -1,
	})
	tab.must("set the network state", err)
}
