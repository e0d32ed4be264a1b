package assistants

// The members of configuration files. The order of the fields is that in the files.
type (
	httpServer struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	namedServer struct {
		Name string `json:"name"`
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	urlServer struct {
		URL string `json:"url"`
	}
	geminiServer struct {
		HTTPURL string `json:"httpUrl"`
	}
	command struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	servers map[string]any
)

// The steps that several assistants share.
const (
	signInText   = "Sign in to Mailhelm in the browser, choose what the assistant may do, and allow the access."
	bridgeText   = "Sign in once with the bridge. It opens the browser and stores the grant in the keyring of the operating system."
	publicServer = "The server must have a public https address, because the assistant connects from its maker's servers. For a server in a private network, use an assistant on your own computer."
)

func claudeCode(address string) Assistant {
	return Assistant{
		ID: "claude-code", Name: "Claude Code", Kind: Application,
		Steps: []Step{
			{Text: "Add the server in a terminal. Use `--scope user` to add it for all your projects.", Language: Shell, Code: "claude mcp add --transport http " + name + " " + address},
			{Text: "Start Claude Code, enter `/mcp`, select " + name + " and choose *Authenticate*. " + signInText},
			{
				Text: "To share the server with everyone who works on a project, put this file into its folder instead.", File: ".mcp.json", Language: JSON,
				Code: indented(servers{"mcpServers": servers{name: httpServer{"http", address}}}),
			},
		},
	}
}

func claude(address string) Assistant {
	return Assistant{
		ID: "claude", Name: "Claude (web, desktop and phone)", Kind: Application, Public: true,
		Steps: []Step{
			{Text: publicServer},
			{Text: "Open *Customize*, then *Connectors* (https://claude.ai/customize/connectors), choose *+* and *Add custom connector*. On a team or enterprise plan, an owner adds the connector in the settings of the organization."},
			{Text: "Enter the name Mailhelm and this address, and choose *Add*.", Language: Shell, Code: address},
			{Text: "Choose *Connect*. " + signInText},
		},
	}
}

func claudeDesktop(address string) Assistant {
	return Assistant{
		ID: "claude-desktop", Name: "Claude Desktop with a private server", Kind: Application,
		Steps: []Step{
			{Text: bridgeText, Language: Shell, Code: "mailhelm mcp " + address + " --sign-in"},
			{
				Text: "Open *Settings*, *Developer*, *Edit Config*, and add the bridge to the file.", File: "claude_desktop_config.json", Language: JSON,
				Code: indented(servers{"mcpServers": servers{name: command{"mailhelm", []string{"mcp", address}}}}),
			},
			{Text: "Restart Claude Desktop."},
		},
	}
}

func cursor(address string) Assistant {
	server := urlServer{address}
	return Assistant{
		ID: "cursor", Name: "Cursor", Kind: Application, Install: cursorLink(server),
		Steps: []Step{
			{
				Text: "Use the link that adds the server, or write this file. `.cursor/mcp.json` in a project applies to that project only.", File: "~/.cursor/mcp.json", Language: JSON,
				Code: indented(servers{"mcpServers": servers{name: server}}),
			},
			{Text: "Open the settings of Cursor, select " + name + " among the MCP servers and choose *Connect*. " + signInText},
		},
	}
}

func visualStudioCode(address string) Assistant {
	server := namedServer{name, "http", address}
	return Assistant{
		ID: "vscode", Name: "Visual Studio Code", Kind: Application, Install: codeLink(server),
		Steps: []Step{
			{Text: "Use the link that adds the server, or add it in a terminal.", Language: Shell, Code: "code --add-mcp '" + compact(server) + "'"},
			{
				Text: "For one project, put this file into its folder instead.", File: ".vscode/mcp.json", Language: JSON,
				Code: indented(servers{"servers": servers{name: httpServer{"http", address}}}),
			},
			{Text: "Run *MCP: List Servers*, select " + name + " and start it. " + signInText},
		},
	}
}

func chatGPT(address string) Assistant {
	return Assistant{
		ID: "chatgpt", Name: "ChatGPT", Kind: Application, Public: true,
		Steps: []Step{
			{Text: publicServer},
			{Text: "Open *Settings*, *Apps*, *Advanced settings*, and turn on *Developer mode*. In a workspace, an administrator allows it first."},
			{Text: "Choose *Create app*, enter the name Mailhelm and this address, and choose OAuth.", Language: Shell, Code: address},
			{Text: signInText},
			{Text: "In a conversation, choose *+*, *More*, *Developer mode*, and turn on Mailhelm."},
		},
	}
}

func gemini(address string) Assistant {
	return Assistant{
		ID: "gemini-cli", Name: "Gemini CLI", Kind: Application,
		Steps: []Step{
			{Text: "Add the server in a terminal. Without `--scope user` it is added for the current folder only.", Language: Shell, Code: "gemini mcp add --scope user --transport http " + name + " " + address},
			{
				Text: "Or write it into the settings. The member must be `httpUrl`, because `url` means an older transport.", File: "~/.gemini/settings.json", Language: JSON,
				Code: indented(servers{"mcpServers": servers{name: geminiServer{address}}}),
			},
			{Text: "Start Gemini CLI and enter `/mcp auth " + name + "`. " + signInText},
		},
	}
}

func codex(address string) Assistant {
	return Assistant{
		ID: "codex", Name: "Codex", Kind: Application,
		Steps: []Step{
			{Text: "Add the server in a terminal.", Language: Shell, Code: "codex mcp add " + name + " --url " + address},
			{Text: "Or write it into the configuration.", File: "~/.codex/config.toml", Language: TOML, Code: "[mcp_servers." + name + "]\nurl = \"" + address + "\""},
			{Text: "Sign in. " + signInText, Language: Shell, Code: "codex mcp login " + name},
		},
	}
}

func bridged(address string) Assistant {
	return Assistant{
		ID: "other", Name: "Any other assistant", Kind: Application,
		Steps: []Step{
			{Text: "If the assistant connects to remote servers with OAuth, give it this address. It finds everything else by itself.", Language: Shell, Code: address},
			{Text: "If it only starts programs, use the bridge. " + bridgeText, Language: Shell, Code: "mailhelm mcp " + address + " --sign-in"},
			{Text: "Configure this command as the server.", Language: Shell, Code: "mailhelm mcp " + address},
		},
	}
}
