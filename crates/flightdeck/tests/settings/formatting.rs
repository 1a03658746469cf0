//! Added handlers follow the formatting of the file, and removal leaves the rest unchanged.

use expect_test::expect;
use flightdeck::settings::Version;

use crate::damaged_files::SHARED;
use crate::fixture::SettingsFixture;

#[test]
fn added_handlers_follow_the_formatting_of_the_file() {
    let files = [
        "{\n\t\"model\": \"opus\"\n}\n",
        "{\"model\":\"opus\"}",
        "{ \"model\": \"opus\", \"hooks\": {\"Stop\": [{\"hooks\": []}]} }\n",
        "{\n    \"hooks\": {\n        \"Stop\": [\n            {\n                \"hooks\": []\n            }\n        ]\n    }\n}\n",
    ];
    let shown = files.map(|text| {
        let fixture = SettingsFixture::with(text.as_bytes()).knowing(Version(1, 0, 48));
        fixture.install().unwrap();
        // Two of the six events are enough to show it.
        let merged = String::from_utf8(fixture.bytes()).unwrap();
        let merged = merged.replace(&fixture.command(), "…");
        let skip = merged.find("\"Notification\"").unwrap()..merged.find("\"PreCompact\"").unwrap();
        format!("{}[…] {}\n", &merged[..skip.start], &merged[skip.end..])
    });
    expect![[r#"
        {
        	"model": "opus",
        	"hooks": {
        		"PreToolUse": [
        			{
        				"hooks": [
        					{
        						"type": "command",
        						"command": "…",
        						"async": true,
        						"timeout": 5,
        						"statusMessage": " "
        					}
        				]
        			}
        		],
        		"PostToolUse": [
        			{
        				"hooks": [
        					{
        						"type": "command",
        						"command": "…",
        						"async": true,
        						"timeout": 5,
        						"statusMessage": " "
        					}
        				]
        			}
        		],
        		[…] "PreCompact": [
        			{
        				"hooks": [
        					{
        						"type": "command",
        						"command": "…",
        						"timeout": 5,
        						"statusMessage": " "
        					}
        				]
        			}
        		]
        	}
        }

        {"model":"opus","hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"…","async":true,"timeout":5,"statusMessage":" "}]}],"PostToolUse":[{"hooks":[{"type":"command","command":"…","async":true,"timeout":5,"statusMessage":" "}]}],[…] "PreCompact":[{"hooks":[{"type":"command","command":"…","timeout":5,"statusMessage":" "}]}]}}
        { "model": "opus", "hooks": {"Stop": [{"hooks": []}, {"hooks": [{"type": "command", "command": "…", "timeout": 5, "statusMessage": " "}]}], "PreToolUse": [{"hooks": [{"type": "command", "command": "…", "async": true, "timeout": 5, "statusMessage": " "}]}], "PostToolUse": [{"hooks": [{"type": "command", "command": "…", "async": true, "timeout": 5, "statusMessage": " "}]}], […] "PreCompact": [{"hooks": [{"type": "command", "command": "…", "timeout": 5, "statusMessage": " "}]}]} }

        {
            "hooks": {
                "Stop": [
                    {
                        "hooks": []
                    },
                    {
                        "hooks": [
                            {
                                "type": "command",
                                "command": "…",
                                "timeout": 5,
                                "statusMessage": " "
                            }
                        ]
                    }
                ],
                "PreToolUse": [
                    {
                        "hooks": [
                            {
                                "type": "command",
                                "command": "…",
                                "async": true,
                                "timeout": 5,
                                "statusMessage": " "
                            }
                        ]
                    }
                ],
                "PostToolUse": [
                    {
                        "hooks": [
                            {
                                "type": "command",
                                "command": "…",
                                "async": true,
                                "timeout": 5,
                                "statusMessage": " "
                            }
                        ]
                    }
                ],
                […] "PreCompact": [
                    {
                        "hooks": [
                            {
                                "type": "command",
                                "command": "…",
                                "timeout": 5,
                                "statusMessage": " "
                            }
                        ]
                    }
                ]
            }
        }

    "#]].assert_eq(&shown.concat());
}

#[test]
fn removal_deletes_our_handlers_and_keeps_the_groups_of_other_tools() {
    let fixture = SettingsFixture::with(SHARED.as_bytes());
    fixture.uninstall().unwrap();
    expect![[r#"
        {
          "hooks": {
            "PreToolUse": [
              {"matcher": "Bash", "hooks": [
                {"type": "command", "command": "theirs first"},
                {"type": "command", "command": "theirs last"}
              ]}
            ],
            "Stop": [
              {"type": "command", "command": "their flat one"}
            ],
            "Madeup": []
          },
          "model": "opus"
        }
    "#]]
    .assert_eq(&String::from_utf8(fixture.bytes()).unwrap());
}
