"""Reports of a demo that was run for real: the numbers are those of `run --json`, the page is XML, the commands in it work, paper has its text.

report_demo_test.py ULPSCOPE RESOURCES NAME PDF: PDF is "pdf" where the window's program is built. Needs pdftotext for it.
"""
import csv
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as tree

ULPSCOPE = RESOURCES = NAME = ""
HAS_PDF = False
H = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}svg"
BARE = {"PATH": os.environ["PATH"], "NO_COLOR": "1"}  # no display, no home, no user


def ulpscope(folder, *words, code=0):
    done = subprocess.run([ULPSCOPE, *words], cwd=folder, env=dict(BARE, ULPSCOPE_DATA=RESOURCES), text=True, capture_output=True)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def texts_of(element):  # a picture's words are not the text beside it
    if element.tag == SVG:
        return ""
    return (element.text or "") + "".join(texts_of(part) + (part.tail or "") for part in element)


def words_of(element):
    return " ".join(texts_of(element).split())


class ReportOfADemo(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        ulpscope(cls.folder, "demo", NAME, "--out", cls.folder)
        cls.session = NAME + ".ulps"
        ulpscope(cls.folder, "report", cls.session, "--out", "out")
        with open(os.path.join(cls.folder, "out", "report.json"), encoding="utf-8") as file:
            cls.report = json.load(file)
        cls.page = tree.parse(os.path.join(cls.folder, "out", "report.html")).getroot()

    def table(self, section, start):
        for s in self.page.iter(H + "section"):
            for table in s.iter(H + "table"):
                if s.get("id") == section and words_of(table.find(H + "caption")).startswith(start):
                    return [[words_of(cell) for cell in row] for row in table.find(H + "tbody")]
        return None

    def test_has_the_sections_in_their_order(self):
        wanted = ["overview", "compared", "criteria", "divergence", "flips", "nonfinite", "headroom", "regions", "notes", "limits", "reproduce"]
        ids = [s.get("id") for s in self.page.iter(H + "section")]
        self.assertEqual(ids, [i for i in wanted if i in ids])
        self.assertLessEqual(set(wanted) - set(ids), {"notes"})

    def test_finds_what_the_demo_is_there_to_show(self):
        with open(os.path.join(RESOURCES, "demo", NAME, "demo.json"), encoding="utf-8") as file:
            finding = json.load(file)["finding"]
        run = self.report["run"]
        self.assertEqual({flip["sample_id"]: [flip["reference"], flip["candidate"]] for flip in run["flips"]}, finding["flips"])
        self.assertEqual(run["no_decision"], finding["no_decision"])
        if finding["first_nonfinite"]:
            self.assertEqual(run["first_nonfinite"]["module"], finding["first_nonfinite"]["module"])
            self.assertIn(run["first_nonfinite"]["diagnosis"].rstrip("."), words_of(self.page))
        flips = self.table("flips", "Changed") or []
        self.assertEqual({row[0].rstrip(" *") for row in flips}, set(finding["flips"]))

    def test_csv_and_page_have_the_numbers_of_the_session(self):
        with open(os.path.join(self.folder, "out", "report-sites.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, strict=True))
        columns = self.report["sites"]["columns"]
        self.assertEqual(len(rows), len(self.report["sites"]["rows"]))
        for row, told in zip(rows, self.report["sites"]["rows"]):
            told = dict(zip(columns, told))
            self.assertEqual((row["module"], row["op"]), (told["module"], told["op"]))
            for key in ("rel_l2", "max_abs", "introduced_rel_l2", "headroom_bits"):
                self.assertEqual(row[key] == "", told[key] is None)
                if row[key]:
                    self.assertTrue(math.isclose(float(row[key]), float(told[key]), rel_tol=5e-9), (row[key], told[key]))  # the table has nine digits
        output = self.report["run"]["outputs"][0]
        self.assertEqual(self.table("divergence", "Outputs")[0][0], output["name"])

    def test_thumbnails_stand_beside_flips_whose_inputs_are_there(self):
        flips = [e for e in self.page.iter(H + "span") if e.get("class") == "picture"]
        if NAME == "digits":
            self.assertEqual(len(flips), len(self.report["run"]["flips"]))

    def test_the_command_that_reproduces_it_works(self):
        command = next(entry["text"] for entry in self.report["reproduce"] if entry["text"].startswith("ulpscope run"))
        with tempfile.TemporaryDirectory() as folder:
            for name in ("model.ts", "inputs.h5"):
                shutil.copy(os.path.join(RESOURCES, "demo", NAME, name), folder)
            ulpscope(folder, *shlex.split(command)[1:])
            ulpscope(folder, "report", "repeated.ulps", "--out", "out", "--format", "json")
            with open(os.path.join(folder, "out", "report.json"), encoding="utf-8") as file:
                again = json.load(file)
        self.assertEqual(again["sites"], self.report["sites"])
        self.assertEqual(again["run"]["flips"], self.report["run"]["flips"])

    def test_no_file_names_a_folder(self):
        for name in os.listdir(os.path.join(self.folder, "out")):
            with open(os.path.join(self.folder, "out", name), "rb") as file:
                text = file.read()
            for secret in (self.folder, os.path.dirname(RESOURCES)):
                self.assertNotIn(secret.encode(), text, name)

    def test_paper_has_the_text_of_the_page(self):
        if not HAS_PDF:
            self.skipTest("the window is not built")
        ulpscope(self.folder, "report", self.session, "--out", "paper", "--format", "pdf")
        pdf = os.path.join(self.folder, "paper", "report.pdf")
        text = " ".join(subprocess.run(["pdftotext", "-layout", pdf, "-"], check=True, text=True, capture_output=True).stdout.split())
        for title in self.page.iter(H + "h2"):
            self.assertIn(words_of(title), text)
        pictures = subprocess.run(["pdfimages", "-list", pdf], check=True, text=True, capture_output=True).stdout.count("image")
        self.assertGreaterEqual(pictures, 1)  # the heatmap's cells; all else is lines and letters
        ulpscope(self.folder, "report", self.session, "--out", "paper", "--format", "pdf", "--lang", "pt_BR")


if __name__ == "__main__":
    HAS_PDF = sys.argv.pop(4) == "pdf"
    NAME, RESOURCES, ULPSCOPE = sys.argv.pop(3), sys.argv.pop(2), sys.argv.pop(1)
    unittest.main()
