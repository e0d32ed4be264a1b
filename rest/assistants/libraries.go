package assistants

import "fmt"

func goSDK(address string) Assistant {
	return Assistant{
		ID: "go-sdk", Name: "Go SDK", Kind: Library,
		Steps: []Step{
			{
				Text: "Give the transport a handler that opens the browser. `openBrowser` opens the address and returns the code, the state and the issuer with which the browser comes back.", Language: Go,
				Code: fmt.Sprintf(`handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
	DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
		Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName:              "My agent",
			RedirectURIs:            []string{"http://127.0.0.1:8765/callback"},
			GrantTypes:              []string{"authorization_code", "refresh_token"},
			TokenEndpointAuthMethod: "none",
		},
	},
	AuthorizationCodeFetcher: openBrowser,
})
if err != nil {
	return err
}
client := mcp.NewClient(&mcp.Implementation{Name: "my-agent", Version: "1.0.0"}, nil)
session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
	Endpoint:             %q,
	OAuthHandler:         handler,
	DisableStandaloneSSE: true,
}, nil)`, address),
			},
		},
	}
}

func typeScriptSDK(address string) Assistant {
	return Assistant{
		ID: "typescript-sdk", Name: "TypeScript SDK", Kind: Library,
		Steps: []Step{
			{
				Text: "Give the transport an `OAuthClientProvider`, which stores the tokens and sends the person to an address. The first connection fails with `UnauthorizedError` after it has sent the person there.", Language: TypeScript,
				Code: fmt.Sprintf(`const transport = new StreamableHTTPClientTransport(new URL(%q), { authProvider })
const client = new Client({ name: 'my-agent', version: '1.0.0' })
await client.connect(transport)`, address),
			},
			{
				Text: "When the browser comes back, redeem the code and connect again.", Language: TypeScript,
				Code: fmt.Sprintf(`await transport.finishAuth(new URL(request.url).searchParams)
await client.connect(new StreamableHTTPClientTransport(new URL(%q), { authProvider }))`, address),
			},
		},
	}
}

func machine(address string) Assistant {
	return Assistant{
		ID: "client-credentials", Name: "Client credentials", Kind: Machine,
		Steps: []Step{
			{Text: "Register an application of the kind *confidential* without redirect addresses, with the permissions that the program needs. Store its secret in a file that only the program can read."},
			{
				Text: "Keep an access token fresh. The command replaces the file before the token ends.", Language: Shell,
				Code: "mailhelm token --client \"$CLIENT_ID\" --secret-file secret.txt \\\n  --server " + address + " --watch --out token.txt",
			},
			{
				Text: "Send the token in the header `Authorization` of each request.", Language: Shell,
				Code: "curl -s '" + address + "' -H \"Authorization: Bearer $(cat token.txt)\" \\\n  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\\n  -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}'",
			},
		},
	}
}
