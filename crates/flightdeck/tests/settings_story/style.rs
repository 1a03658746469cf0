//! What is added is written as the file is written, and what is taken out leaves the rest as it was.

use expect_test::expect;
use flightdeck::claude_settings::Version;

use crate::nasty::SHARED;
use crate::world::World;

#[test]
fn what_we_add_is_written_in_the_style_of_the_file() {
    let files = [
        "{\n\t\"model\": \"opus\"\n}\n",
        "{\"model\":\"opus\"}",
        "{ \"model\": \"opus\", \"hooks\": {\"Stop\": [{\"hooks\": []}]} }\n",
        "{\n    \"hooks\": {\n        \"Stop\": [\n            {\n                \"hooks\": []\n            }\n        ]\n    }\n}\n",
    ];
    let shown = files.map(|text| {
        let world = World::with(text.as_bytes()).knowing(Version(1, 0, 48));
        world.install().unwrap();
        // Two of the six events are enough to see it.
        let merged = String::from_utf8(world.bytes()).unwrap();
        let merged = merged.replace(&world.command(), "…");
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
        						"statusMessage": "Flightdeck"
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
        						"statusMessage": "Flightdeck"
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
        						"statusMessage": "Flightdeck"
        					}
        				]
        			}
        		]
        	}
        }

        {"model":"opus","hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"…","async":true,"timeout":5,"statusMessage":"Flightdeck"}]}],"PostToolUse":[{"hooks":[{"type":"command","command":"…","async":true,"timeout":5,"statusMessage":"Flightdeck"}]}],[…] "PreCompact":[{"hooks":[{"type":"command","command":"…","timeout":5,"statusMessage":"Flightdeck"}]}]}}
        { "model": "opus", "hooks": {"Stop": [{"hooks": []}, {"hooks": [{"type": "command", "command": "…", "timeout": 5, "statusMessage": "Flightdeck"}]}], "PreToolUse": [{"hooks": [{"type": "command", "command": "…", "async": true, "timeout": 5, "statusMessage": "Flightdeck"}]}], "PostToolUse": [{"hooks": [{"type": "command", "command": "…", "async": true, "timeout": 5, "statusMessage": "Flightdeck"}]}], […] "PreCompact": [{"hooks": [{"type": "command", "command": "…", "timeout": 5, "statusMessage": "Flightdeck"}]}]} }

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
                                "statusMessage": "Flightdeck"
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
                                "statusMessage": "Flightdeck"
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
                                "statusMessage": "Flightdeck"
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
                                "statusMessage": "Flightdeck"
                            }
                        ]
                    }
                ]
            }
        }

    "#]].assert_eq(&shown.concat());
}

#[test]
fn removal_takes_our_handlers_and_leaves_the_groups_of_others() {
    let world = World::with(SHARED.as_bytes());
    world.uninstall().unwrap();
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
    .assert_eq(&String::from_utf8(world.bytes()).unwrap());
}
